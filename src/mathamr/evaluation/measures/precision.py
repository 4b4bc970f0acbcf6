"""P@k: how many of the first k results are relevant."""

from __future__ import annotations

from mathamr.evaluation.measures.measure import Grades, Measure, RankedGrades


class Precision(Measure):
    """The share of relevant items among the first k results.

    A run with fewer than k results is divided by k all the same, as in trec_eval (`P.10`).
    """

    name = "P"
    needs_cutoff = True

    def value(self, ranked: RankedGrades, _judged: Grades) -> float:
        """Return the number of relevant results over k."""
        return sum(map(self.is_relevant, ranked)) / (self.cutoff or 1)
