"""`Scores`: the values of a run's measures, topic by topic and on average."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.measures.measure import Measure
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.runs import Run


@dataclass(frozen=True)
class Scores:
    """Values by measure and topic.

    Every judged topic counts: one that the run lacks (`missing`) with zero, like one without relevant items.
    `unjudged` are topics of the run without any judgment; they are left out.
    """

    run: str
    values: Mapping[str, Mapping[str, float]]
    missing: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures."""
        return tuple(self.values)

    @property
    def topics(self) -> tuple[str, ...]:
        """The judged topics."""
        return tuple(next(iter(self.values.values()), {}))

    def mean(self, measure: str) -> float:
        """Return the mean of a measure over all judged topics."""
        return mean(list(self.values[measure].values()))


def evaluate(run: Run, qrels: Qrels, measures: Sequence[Measure]) -> Scores:
    """Return the values of the measures for every judged topic.

    >>> from mathamr.evaluation.measures import measure
    >>> run = Run.of("mine", {"A.1": [("7", 2.0), ("8", 1.0)]})
    >>> scores = evaluate(run, Qrels({"A.1": {"8": 3}, "A.2": {"9": 2}}), [measure("MRR")])
    >>> dict(scores.values["MRR"]), scores.mean("MRR"), scores.missing
    ({'A.1': 0.5, 'A.2': 0.0}, 0.25, ('A.2',))
    """
    if not measures:
        raise MathAMRError("give at least one measure, such as nDCG'")
    if not any(topic in run.rankings for topic in qrels.topics):
        raise MathAMRError(
            f"run {run.name!r} and the judgments have no topic in common: the run has {_some(run.rankings)}, "
            f"the judgments {_some(qrels.grades)}"
        )
    ranked = {topic: run.ids(topic) for topic in qrels.topics}
    values = {
        str(measure): {topic: measure.of(ranked[topic], grades) for topic, grades in qrels.grades.items()}
        for measure in measures
    }
    missing = tuple(topic for topic in qrels.topics if topic not in run.rankings)
    unjudged = tuple(topic for topic in run.rankings if topic not in qrels.grades)
    return Scores(run.name, values, missing, unjudged)


def mean(values: Sequence[float]) -> float:
    """Return the mean of values; 0 if there are none."""
    return sum(values) / len(values) if values else 0.0


def _some(topics: Mapping[str, object]) -> str:
    shown = ", ".join(list(topics)[:3]) or "none"
    return f"{shown}, …" if len(topics) > 3 else shown
