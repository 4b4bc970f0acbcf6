"""Bpref: preference of relevant over judged non-relevant results."""

from __future__ import annotations

from mathamr.evaluation.measures.measure import Grades, Measure, RankedGrades


class Bpref(Measure):
    """For each relevant item that was found, 1 - min(n, R) / min(N, R), over R, the number of relevant items.

    n is how many of the N items that were judged not relevant stand above it. Unjudged results do not count. This
    is trec_eval's form, whose denominator is min(N, R) where the first paper had R: Buckley and Voorhees,
    "Retrieval evaluation with incomplete information", SIGIR 2004, as corrected in trec_eval 8.
    """

    name = "Bpref"
    primed = False

    def value(self, ranked: RankedGrades, judged: Grades) -> float:
        """Return the value; 0 if nothing is relevant."""
        relevant = self.number_relevant(judged)
        bound = min(relevant, len(judged) - relevant)
        above, total = 0, 0.0
        for grade in ranked:
            if self.is_relevant(grade):
                total += 1 - min(above, relevant) / bound if above else 1.0
            elif grade is not None:
                above += 1
        return total / relevant if relevant else 0.0
