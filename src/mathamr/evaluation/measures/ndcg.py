"""nDCG: graded relevance with a discount by rank."""

from __future__ import annotations

from collections.abc import Iterable
from math import log2

from mathamr.evaluation.measures.measure import Grades, Measure, RankedGrades


class NDCG(Measure):
    """Normalised discounted cumulative gain: the sum of grade / log2(rank + 1), over that of the best order.

    The gain of a result is its grade, as in trec_eval. Järvelin and Kekäläinen, "Cumulated gain-based evaluation of
    IR techniques", TOIS 20 (2002).
    """

    name = "nDCG"
    binary = False

    def value(self, ranked: RankedGrades, judged: Grades) -> float:
        """Return the value; 0 if nothing is relevant."""
        ideal = _gain(sorted(judged, reverse=True)[: self.cutoff])
        return _gain(ranked) / ideal if ideal else 0.0


def _gain(grades: Iterable[int | None]) -> float:
    return sum((grade or 0) / log2(rank + 1) for rank, grade in enumerate(grades, 1))
