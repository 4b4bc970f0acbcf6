"""recall@k: how many of the relevant items are among the first k results."""

from __future__ import annotations

from mathamr.evaluation.measures.measure import Grades, Measure, RankedGrades


class Recall(Measure):
    """The share of the relevant items that the first k results (or all) hold; trec_eval's `recall.100`."""

    name = "recall"

    def value(self, ranked: RankedGrades, judged: Grades) -> float:
        """Return the share of relevant items that were found; 0 if nothing is relevant."""
        relevant = self.number_relevant(judged)
        return sum(map(self.is_relevant, ranked)) / relevant if relevant else 0.0
