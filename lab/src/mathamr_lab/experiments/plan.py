"""`Plan`: the stages of an experiment in order, shared between rows and between experiments of one folder, and its tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mathamr.core.errors import MathAMRError
from mathamr.core.progress import duration
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.runs import DEPTH, Run, write_run
from mathamr.evaluation.scores import Scores, evaluate
from mathamr_lab.experiments.collection import TestSet
from mathamr_lab.experiments.setting import ExperimentSetting
from mathamr_lab.experiments.stage import ExperimentStages, Figures, Stage
from mathamr_lab.experiments.tables import markdown_table

NOT_APPLICABLE = "not applicable"
NO_SEED = -1
"""The seed of a row without a network."""


class NotApplicableError(MathAMRError):
    """A row cannot be measured on a test set, such as a search for formulas in graphs without any."""


@dataclass(frozen=True)
class JudgedTest:
    """What runs are measured on; the judgments of a collection of formulas are known once it is prepared."""

    name: str
    measures: tuple[str, ...]
    qrels: Callable[[], Qrels]
    digest: str = ""

    @classmethod
    def of(cls, test: TestSet) -> JudgedTest:
        """Return a test set of posts."""
        return cls(test.name, tuple(map(str, test.measures)), lambda: test.qrels, test.digest)


@dataclass(frozen=True)
class MeasuredRun:
    """The run of one row with one seed on one test: its stage, whose run lies beside its mark, and the stage of its training."""

    row: str
    seed: int
    test: JudgedTest
    stage: Stage
    train: Stage | None = None

    @property
    def path(self) -> Path:
        """The file of the run."""
        return self.stage.mark_path.with_suffix(".run")

    def scores(self) -> Scores | None:
        """Return the scores; `None` while there are none, or if the row cannot be measured on this test."""
        mark = self.stage.mark()
        if mark is None or NOT_APPLICABLE in mark.figures:
            return None
        return Scores(self.row, mark.figures["values"], tuple(mark.figures["missing"]))


Search = Callable[[], tuple[Run, Figures]]
"""Makes a run, and figures beside its measures; raises `NotApplicableError` if a row cannot be measured."""


class Plan:
    """All stages of an experiment in a valid order, the runs that they measure, and the report on their results."""

    def __init__(self, setting: ExperimentSetting) -> None:
        self.setting, self.stages = setting, ExperimentStages()
        self.measured: list[MeasuredRun] = []

    def check(self) -> None:
        """Raise an error, before the first stage, if something is not installed or reachable that a later stage needs."""

    def measure(
        self,
        row: str,
        seed: int,
        test: JudgedTest,
        path: Path,
        inputs: Mapping[str, Any],
        needs: Sequence[Stage],
        search: Search,
        *,
        train: Stage | None = None,
        kept: int = DEPTH,
        among_judged: bool = False,
    ) -> None:
        """Add the stage that makes a run, writes its first `kept` results into a file, and measures it.

        With `among_judged` a topic's own judged items alone are measured, however many others are ranked above them.
        """

        def work() -> Figures:
            try:
                run, figures = search()
            except NotApplicableError as error:
                return {NOT_APPLICABLE: str(error)}
            path.parent.mkdir(parents=True, exist_ok=True)
            write_run(run, path, kept)
            qrels = test.qrels()
            if among_judged:
                run = judged_alone(run, qrels)
            found = evaluate(run, qrels, measures(test.measures))
            values = {measure: dict(each) for measure, each in found.values.items()}
            return {**figures, "values": values, "missing": list(found.missing)}

        given = {**inputs, "judgments": test.digest, "measures": test.measures}
        name = str(path.with_suffix("").relative_to(self.setting.out)).removeprefix("runs/")
        stage = Stage("run", f"run {name}", path.with_suffix(".json"), given, tuple(needs), work)
        self.measured.append(MeasuredRun(row, seed, test, self.stages.add(stage), train))

    def scores(self, row: str, test: str) -> dict[int, Scores]:
        """Return the scores of a row on a test that are measured so far, by seed."""
        return {
            each.seed: scores
            for each in self.measured
            if (each.row, each.test.name) == (row, test) and (scores := each.scores()) is not None
        }

    def markdown(self) -> str:
        """Return the report on what is measured so far."""
        experiment = self.setting.experiment
        parts = [f"# {experiment.title}", experiment.question, *experiment.beside]
        for title, table in self.tables():
            parts += [f"## {title}", table]
        learned = list(self._learned())
        if learned:
            heads = ["", "stage", "steps", "loss, first to last epoch", "epoch taken", "seconds an epoch"]
            parts += ["## How the models learned", markdown_table([heads, *learned], 2)]
        return "\n\n".join(parts) + "\n"

    def tables(self) -> Iterator[tuple[str, str]]:
        """Return titles and Markdown of what is measured so far; none if `markdown` writes the tables itself."""
        return iter(())

    def _learned(self) -> Iterator[list[str]]:
        """Yield the trainings that are done, each by the first row that it serves."""
        for stage in dict.fromkeys(each.train for each in self.measured if each.train is not None):
            row = next(each for each in self.measured if each.train is stage)
            mark = stage.mark()
            for name, figures in mark.figures["stages"].items() if mark else ():
                losses = figures["losses"]
                yield [
                    *(f"{row.row}, seed {row.seed}", name, f"{figures['steps']:,}"),
                    *(f"{losses[0]:.4f} to {losses[-1]:.4f}", str(figures["best epoch"])),
                    f"{figures['seconds an epoch']:.1f}",
                ]

    def lines(self) -> Iterator[str]:
        """Yield the plan as text: every stage, and what is done."""
        marks = [stage.mark() for stage in self.stages]
        for stage, mark in zip(self.stages, marks, strict=True):
            state = f"done in {duration(mark.seconds)}" if mark else "to do"
            yield f"{stage.kind:<8} {state:>18}  {stage.name}"
        yield f"{sum(mark is not None for mark in marks)} of {len(marks)} stages done"


def judged_alone(run: Run, qrels: Qrels) -> Run:
    """Return a run with each topic's own judged items alone."""
    rankings = {
        topic: tuple(hit for hit in hits if hit.id in qrels.grades.get(topic, ()))
        for topic, hits in run.rankings.items()
    }
    return Run(run.name, rankings)
