"""The scores of a random order: the floor that every figure should be compared with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.measures.measure import Measure
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.runs import DEPTH, Run
from mathamr.evaluation.scores import Scores, mean

SHUFFLES = 20


def random_scores(
    qrels: Qrels, measures: Sequence[Measure], candidates: int, shuffles: int = SHUFFLES, seed: int = 0
) -> Scores:
    """Return the expected scores of a random order of `candidates` items, of which a run keeps the first 1,000.

    With 0 candidates, only the judged items are ordered, which gives the highest floor. Prime measures are high if few
    items are judged, because they ignore the unjudged items between them.
    """
    most = max(map(len, qrels.grades.values()))
    if 0 < candidates < most:
        raise MathAMRError(
            f"a random order of {candidates} items cannot hold the {most} judged ones of a topic"
        )
    name = f"random order of {candidates:,} items" if candidates else "random order of the judged items"
    generator = np.random.default_rng(seed)
    values: dict[str, dict[str, float]] = {str(measure): {} for measure in measures}
    for topic, grades in qrels.grades.items():
        orders = [_order(list(grades), candidates or len(grades), generator) for _ in range(shuffles)]
        for measure in measures:
            values[str(measure)][topic] = mean([measure.of(order, grades) for order in orders])
    return Scores(name, values)


def known_items(qrels: Qrels, runs: Iterable[Run]) -> int:
    """Return the number of distinct items in judgments and run: the known candidates if there is no collection."""
    items = {item for grades in qrels.grades.values() for item in grades}
    for run in runs:
        items.update(hit.id for hits in run.rankings.values() for hit in hits)
    return len(items)


def _order(judged: list[str], candidates: int, generator: np.random.Generator) -> list[str]:
    """Return the first results of a random order: judged items at random ranks, others (an empty id) between them."""
    order = [""] * min(candidates, DEPTH)
    for item, rank in zip(judged, generator.choice(candidates, len(judged), replace=False), strict=True):
        if rank < len(order):
            order[rank] = item
    return order
