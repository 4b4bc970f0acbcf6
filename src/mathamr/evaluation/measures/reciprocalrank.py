"""MRR: the mean of the reciprocal rank of the first relevant result."""

from __future__ import annotations

from mathamr.evaluation.measures.measure import Grades, Measure, RankedGrades


class ReciprocalRank(Measure):
    """One over the rank of the first relevant result, 0 where there is none (among the first k, with a cut-off).

    Its mean over topics is MRR. Voorhees, "The TREC-8 question answering track report", TREC 1999.
    """

    name = "MRR"

    def value(self, ranked: RankedGrades, _judged: Grades) -> float:
        """Return one divided by the rank of the first relevant result; 0 if there is none."""
        return next((1 / rank for rank, grade in enumerate(ranked, 1) if self.is_relevant(grade)), 0.0)
