"""`Comparison`: the scores of runs on the same topics, tested against a baseline."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.scores import Scores
from mathamr.evaluation.significance import (
    LEVEL,
    PairedTest,
    bonferroni,
    bootstrap_interval,
    mean_interval,
    paired_t_test,
    stars,
)


@dataclass(frozen=True)
class Difference:
    """One test of an experiment: a run against the baseline on one measure."""

    run: str
    measure: str
    test: PairedTest
    tests: int

    @property
    def corrected(self) -> float | None:
        """The p-value after Bonferroni's correction."""
        return None if self.test.p_value is None else bonferroni(self.test.p_value, self.tests)

    @property
    def is_significant(self) -> bool:
        """True if the difference is significant after the correction."""
        return self.corrected is not None and self.corrected < LEVEL

    @property
    def stars(self) -> str:
        """The significance as stars."""
        return stars(self.corrected)


@dataclass(frozen=True)
class Comparison:
    """The scores of runs on the same topics, and their differences from a baseline, if there is one.

    The correction counts one test for each tested measure of each run other than the baseline.
    """

    scores: tuple[Scores, ...]
    baseline: str | None
    differences: tuple[Difference, ...]

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures."""
        return self.scores[0].measures

    @property
    def topics(self) -> tuple[str, ...]:
        """The judged topics."""
        return self.scores[0].topics

    @property
    def tests(self) -> int:
        """How many tests were made."""
        return len(self.differences)

    def of(self, run: str) -> Scores:
        """Return the scores of a run."""
        return next(scores for scores in self.scores if scores.run == run)

    def difference(self, run: str, measure: str) -> Difference | None:
        """Return a run's difference from the baseline, or `None` if it was not tested."""
        return next((each for each in self.differences if (each.run, each.measure) == (run, measure)), None)

    def to_json(self, *, per_topic: bool = False) -> dict[str, Any]:
        """Return the comparison as JSON values; `None` is a value that could not be computed."""
        return {
            "topics": len(self.topics),
            "baseline": self.baseline,
            "tests": self.tests,
            "runs": [self._run_json(scores, per_topic=per_topic) for scores in self.scores],
        }

    def _run_json(self, scores: Scores, *, per_topic: bool) -> dict[str, Any]:
        row: dict[str, Any] = {
            "run": scores.run,
            "missing_topics": list(scores.missing),
            "unjudged_topics": list(scores.unjudged),
            "measures": {measure: self._measure_json(scores, measure) for measure in self.measures},
        }
        if per_topic:
            row["per_topic"] = {
                topic: {measure: scores.values[measure][topic] for measure in self.measures}
                for topic in self.topics
            }
        return row

    def _measure_json(self, scores: Scores, measure: str) -> dict[str, Any]:
        values = list(scores.values[measure].values())
        row: dict[str, Any] = {
            "mean": scores.mean(measure),
            "interval": mean_interval(values),
            "bootstrap_interval": bootstrap_interval(values),
        }
        difference = self.difference(scores.run, measure)
        if difference is not None:
            test = difference.test
            row |= {
                "difference": test.difference,
                "difference_interval": None if test.low is None else (test.low, test.high),
                "t": test.statistic if test.statistic is None or abs(test.statistic) < float("inf") else None,
                "p": test.p_value,
                "p_corrected": difference.corrected,
                "significant": difference.is_significant,
            }
        return row


def compare(
    scores: Sequence[Scores], baseline: str | None = None, tested: Collection[str] | None = None
) -> Comparison:
    """Compare runs that have the same measures and topics; with a baseline, test every other run against it.

    `tested` lists the measures to test, by default all.
    """
    if not scores:
        raise MathAMRError("give at least one run to compare")
    names = [each.run for each in scores]
    for name in names:
        if names.count(name) > 1:
            raise MathAMRError(f"two runs are named {name!r}; rename one of them")
    for each in scores:
        if each.measures != scores[0].measures or each.topics != scores[0].topics:
            raise MathAMRError(
                f"run {each.run!r} was not measured on the same topics and measures as the others"
            )
    if baseline is None:
        return Comparison(tuple(scores), None, ())
    if baseline not in names:
        raise MathAMRError(f"the baseline {baseline!r} is not among the runs: {', '.join(names)}")
    base = scores[names.index(baseline)]
    others = [each for each in scores if each.run != baseline]
    chosen = [measure for measure in base.measures if tested is None or measure in tested]
    tests = len(others) * len(chosen)
    differences = tuple(
        Difference(
            each.run,
            measure,
            paired_t_test(list(each.values[measure].values()), list(base.values[measure].values())),
            tests,
        )
        for each in others
        for measure in chosen
    )
    return Comparison(tuple(scores), baseline, differences)
