"""`Plan`: the stages of an experiment in order, shared between variants and between experiments of one folder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path

from mathamr.core.progress import duration
from mathamr_lab.experiments.setting import ExperimentSetting
from mathamr_lab.experiments.stage import ExperimentStages, read_mark


class Plan(ABC):
    """All stages of an experiment in a valid order, and the report on their results."""

    def __init__(self, setting: ExperimentSetting) -> None:
        self.setting, self.stages = setting, ExperimentStages()

    @abstractmethod
    def markdown(self, folder: Path) -> str:
        """Returns the report on what is measured so far; pictures and other files go into the folder."""

    def lines(self) -> Iterator[str]:
        """Returns the plan as text: what is done, what is left, and about how long that takes."""
        paces, left = self._paces(), 0.0
        for stage in self.stages:
            mark = stage.mark()
            seconds = 0.0 if mark else stage.units * paces.get(stage.sort, 1 / stage.pace)
            left += seconds / (self.setting.workers if stage.kind == "train" else 1)
            state = f"done in {duration(mark.seconds)}" if mark else f"about {duration(seconds)}"
            yield f"{stage.kind:<8} {state:>18}  {stage.name}"
        done = sum(stage.mark() is not None for stage in self.stages)
        yield f"{done} of {len(self.stages)} stages done; about {duration(left)} left"

    def _paces(self) -> dict[str, float]:
        """Returns seconds per unit for each sort of stage, measured on those that are done in this folder."""
        known: dict[str, list[float]] = {}
        for stage in self.stages:
            mark = read_mark(stage.mark_path)
            if mark is not None:
                known.setdefault(stage.sort, []).append(mark.seconds / max(1, stage.units))
        return {sort: sum(paces) / len(paces) for sort, paces in known.items()}
