"""`Setting`: what an experiment is run with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mathamr.errors import MathAMRError, UnknownNameError
from mathamr.evaluation.baselines import BASELINES
from mathamr.experiments.collection import Collection, TestSet
from mathamr.experiments.experiment import Experiment
from mathamr.experiments.scale import Scale


@dataclass(frozen=True)
class Setting:
    """An experiment, where, on what, how large, how often, and by which means.

    `changes` are those that the user made to the named scale; `scale` has them already.
    """

    experiment: Experiment
    collection: Collection
    out: Path
    scale: Scale
    seeds: int = 3
    changes: tuple[str, ...] = ()
    store: Path | None = None
    baselines: tuple[str, ...] = ()
    device: str = "auto"
    workers: int = 1
    threads: int = 1

    def __post_init__(self) -> None:
        for name in self.baselines:
            if name not in BASELINES:
                raise UnknownNameError("baseline", name, list(BASELINES))
        if not any(test.task == "answers" for test in self.tests):
            raise MathAMRError("the experiments rank answers: give topics and judgments of answers, too")

    @property
    def tests(self) -> tuple[TestSet, ...]:
        """The test sets that belong to the question."""
        return tuple(
            test for test in self.collection.tests if test.task == "answers" or self.experiment.formulas
        )
