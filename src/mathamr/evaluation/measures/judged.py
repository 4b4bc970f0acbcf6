"""judged@k: the share of the first k results that are judged."""

from __future__ import annotations

from mathamr.evaluation.measures.measure import Grades, Measure, RankedGrades


class Judged(Measure):
    """The share of the first k results that have a judgment: how much the other figures can be trusted.

    Like P@k it is divided by k even where a run has fewer results. It does not say that a run is good, so it is
    not tested for significance.
    """

    name = "judged"
    binary = False
    primed = False
    needs_cutoff = True
    is_tested = False

    def value(self, ranked: RankedGrades, _judged: Grades) -> float:
        """Return the number of judged results over k."""
        return sum(grade is not None for grade in ranked) / (self.cutoff or 1)
