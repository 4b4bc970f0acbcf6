"""`ExperimentSetting`: an experiment with everything that it needs to run."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.evaluation.baselines import BASELINES
from mathamr.index.engines.engine import ENGINES
from mathamr_lab.experiments.collection import TestCollection, TestSet
from mathamr_lab.experiments.experiment import Experiment, FormulaExperiment, FormulaVariant, GraphExperiment
from mathamr_lab.experiments.scale import Scale, scale_named

EXACT, APPROXIMATE = "flat", "qdrant"
"""The engine of exact search, and the default engine whose approximate search is measured, a server (`MATHAMR_QDRANT_URL`)."""


@dataclass(frozen=True)
class ExperimentSetting:
    """An experiment, its collection, its folder, its size and its resources.

    `changes` are the user's changes to the named scale, which `scale` includes. `pools` are folders of judged
    formulas, and `runs` files of runs of other systems.
    """

    experiment: Experiment
    collection: TestCollection
    out: Path
    scale: Scale = field(default_factory=lambda: scale_named("small"))
    seeds: int = 3
    changes: tuple[str, ...] = ()
    store: Path | None = None
    baselines: tuple[str, ...] = ()
    device: str = "auto"
    parser: str = "builtin"
    """The AMR parser of posts and topics."""
    parser_model: str | None = None
    accepted: bool = False
    """True if only accepted answers are paired with their questions, if a collection knows them."""
    wanted_engine: str | None = None
    """The engine that the user named; see `engine`."""
    pools: tuple[Path, ...] = ()
    runs: tuple[Path, ...] = ()
    only: tuple[str, ...] = ()
    """The rows that are run; without any, all."""
    workers: int = 1
    """The processes that make graphs and indexes; what is trained and measured does not depend on them."""

    @property
    def named_runs(self) -> dict[str, Path]:
        """The runs of other systems, by the names of their files."""
        return {path.name.partition(".")[0]: path for path in self.runs}

    @property
    def run_variants(self) -> tuple[FormulaVariant, ...]:
        """The rows of the runs, if the experiment compares them."""
        if not isinstance(self.experiment, FormulaExperiment) or self.experiment.of_runs is None:
            return ()
        return self.experiment.of_runs(tuple(self.named_runs))

    @property
    def rows(self) -> tuple[str, ...]:
        """The rows of the experiment, with those of the runs."""
        return (*self.experiment.rows, *(row.name for row in self.run_variants))

    def __post_init__(self) -> None:
        for name in self.only:
            if name not in self.rows:
                raise UnknownNameError(f"row of {self.experiment.name}", name, list(self.rows))
        for field_name in (change.partition("=")[0] for change in self.changes):
            if field_name in self.experiment.varied:
                raise MathAMRError(
                    f"--set {field_name} would change what the rows of {self.experiment.name} are about: it varies"
                    f" {field_name} itself; leave it out"
                )
            if field_name.rpartition(".")[2] == "seed":
                raise MathAMRError(
                    f"--set {field_name} has no place in {self.experiment.name}: seeds are numbered by --seeds"
                )
        if not isinstance(self.experiment, GraphExperiment):
            return
        for name in self.baselines:
            if name not in BASELINES:
                raise UnknownNameError("baseline", name, list(BASELINES))
        if self.engine not in ENGINES:
            raise UnknownNameError("engine", self.engine, list(ENGINES))
        if self.engine == EXACT and self.graphs.is_approximate:
            raise MathAMRError(
                f"{self.experiment.name} ranks with an approximate index, and the engine {EXACT} has none: its exact"
                f" search would stand in those rows; name another --engine, or none for {APPROXIMATE}"
            )
        if not any(test.task == "answers" for test in self.tests):
            raise MathAMRError("the experiments rank answers: give topics and judgments of answers, too")

    def wants(self, row: str) -> bool:
        """Return True if a row of the experiment's tables is run."""
        return not self.only or row in self.only

    @property
    def engine(self) -> str:
        """The engine of all searches, so that exact and approximate search are comparable."""
        if self.wanted_engine is not None:
            return self.wanted_engine
        return APPROXIMATE if self.graphs.is_approximate else EXACT

    @property
    def graphs(self) -> GraphExperiment:
        """The experiment as a `GraphExperiment`."""
        assert isinstance(self.experiment, GraphExperiment)
        return self.experiment

    @property
    def tests(self) -> tuple[TestSet, ...]:
        """The test sets that belong to the question."""
        return tuple(test for test in self.collection.tests if test.task == "answers" or self.graphs.formulas)
