"""`Plan`: the stages of an experiment in order, shared between variants and between experiments of one folder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from mathamr.core.errors import MathAMRError
from mathamr.core.progress import duration
from mathamr.evaluation.runs import read_run
from mathamr_lab.experiments.setting import ExperimentSetting
from mathamr_lab.experiments.stage import ExperimentStages
from mathamr_lab.experiments.tables import markdown_table


@dataclass(frozen=True, slots=True)
class RowRun:
    """The stored run of one row: its name, its seed, the collection or test set, and the grades by topic."""

    row: str
    seed: int
    test: str
    path: Path
    grades: Mapping[str, Mapping[str, int]]


class Plan(ABC):
    """All stages of an experiment in a valid order, and the report on their results."""

    def __init__(self, setting: ExperimentSetting) -> None:
        self.setting, self.stages = setting, ExperimentStages()

    @classmethod
    def of(cls, setting: ExperimentSetting) -> Self:
        """Return the plan of an experiment; a plan that must count first does so here."""
        return cls(setting)

    def row_runs(self) -> Iterator[RowRun]:
        """Yield the runs of all rows that are measured; none if this kind of experiment keeps scores alone."""
        return iter(())

    def texts(self, test: str, items: Collection[str]) -> Mapping[str, str]:
        """Return what to show of results: LaTeX of formulas, the first words of posts."""
        return {}

    def first_results(self, topic: str, count: int, seed: int = 0) -> Iterator[str]:
        """Yield Markdown: the first results of a topic with their grades, for every row and test set that has the topic."""
        found = [each for each in self.row_runs() if topic in each.grades and each.seed in (seed, -1)]
        hits = {each.path: read_run(each.path).rankings.get(topic, ())[:count] for each in found}
        tests = dict.fromkeys(each.test for each in found)
        shown = {
            test: self.texts(test, {hit.id for each in found if each.test == test for hit in hits[each.path]})
            for test in tests
        }
        for each in found:
            yield f"## {each.test}, topic {topic}: {each.row}"
            yield markdown_table(
                [
                    ["rank", "result", "grade", "score", ""],
                    *(
                        [
                            str(rank),
                            hit.id,
                            str(each.grades[topic].get(hit.id, "–")),
                            f"{hit.score:.4f}",
                            shown[each.test].get(hit.id, ""),
                        ]
                        for rank, hit in enumerate(hits[each.path], 1)
                    ),
                ],
                2,
            )
        if not found:
            raise MathAMRError(
                f"no measured row of {self.setting.experiment.name} has a run of topic {topic!r} with seed {seed}"
            )

    @abstractmethod
    def markdown(self, folder: Path) -> str:
        """Return the report on what is measured so far; pictures and other files go into the folder."""

    def lines(self) -> Iterator[str]:
        """Return the plan as text: every stage, and what is done."""
        marks = [stage.mark() for stage in self.stages]
        for stage, mark in zip(self.stages, marks, strict=True):
            state = f"done in {duration(mark.seconds)}" if mark else "to do"
            yield f"{stage.kind:<8} {state:>18}  {stage.name}"
        yield f"{sum(mark is not None for mark in marks)} of {len(marks)} stages done"
