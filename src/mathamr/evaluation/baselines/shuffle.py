"""A random order, seeded by the query."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from mathamr.evaluation.baselines.candidate import Candidate
from mathamr.evaluation.runs import RunHit


class Shuffle:
    """Ranks the candidates in a random order that depends only on the query's id."""

    def __init__(self, candidates: Iterable[Candidate]) -> None:
        self._ids = [candidate.id for candidate in candidates]

    def rank(self, queries: Sequence[Candidate], depth: int) -> list[list[RunHit]]:
        """Return a shuffle for each query; scores decrease by one per rank."""
        count = min(depth, len(self._ids))
        return [
            [RunHit(item, float(count - place)) for place, item in enumerate(self._sample(query, count))]
            for query in queries
        ]

    def _sample(self, query: Candidate, count: int) -> list[str]:
        return random.Random(query.id).sample(self._ids, count)
