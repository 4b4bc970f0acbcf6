"""MAP: the mean of average precision."""

from __future__ import annotations

from mathamr.evaluation.measures.measure import Grades, Measure, RankedGrades


class AveragePrecision(Measure):
    """The mean, over all relevant items, of the precision at the rank of each; 0 for one that was not found.

    Its mean over topics is MAP. Buckley and Voorhees, "Evaluating evaluation measure stability", SIGIR 2000.
    """

    name = "MAP"

    def value(self, ranked: RankedGrades, judged: Grades) -> float:
        """Return the average precision; 0 if nothing is relevant."""
        relevant = self.number_relevant(judged)
        found, total = 0, 0.0
        for rank, grade in enumerate(ranked, 1):
            if self.is_relevant(grade):
                found += 1
                total += found / rank
        return total / relevant if relevant else 0.0
