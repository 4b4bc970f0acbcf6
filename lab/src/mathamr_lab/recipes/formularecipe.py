"""`FormulaRecipe`: trains a system that reads formulas alone, in one stage."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch

from mathamr.core.modelfolder import CONFIG, read_config
from mathamr.graphs.formulashard import FormulaShard
from mathamr_lab.recipes.formulas import FORMULAS, ORDERS, prepare_formulas
from mathamr_lab.recipes.recipe import (
    StageResult,
    StageWork,
    TrainingSettings,
    TrainingSources,
    TrainingStages,
    rank_as_published,
)
from mathamr_lab.systems.formulagraph.teacher import Teacher
from mathamr_lab.training.loop import train
from mathamr_lab.training.settings import FormulaTraining
from mathamr_lab.training.trainer import Trainer

Configured = TypeVar("Configured", bound=tuple[Any, ...])


@dataclass(frozen=True, kw_only=True)
class FormulaRecipe(Generic[Configured]):
    """The parts in which such systems differ: the name of the stage, the configurations, and the trainer.

    `configured` returns the configurations of a name with some fields changed, that of the training last.
    """

    stage: str
    configurations: tuple[str, ...]
    configured: Callable[[str, Iterable[str]], Configured]
    trainer: Callable[[FormulaShard, Configured, Teacher | None, torch.device], Trainer[Any, Any]]
    published: Mapping[str, str]
    """The paper's ranking of formulas, by the names of configurations that are the paper's."""

    reads = ("posts",)

    @property
    def stages(self) -> tuple[str, ...]:
        """The one stage."""
        return (self.stage,)

    def check(self, settings: TrainingSettings) -> None:
        """Refuse settings that cannot be trained."""
        settings.checked(self.stages)
        self._configured(settings)

    def is_taught(self, settings: TrainingSettings) -> bool:
        """Return True if the orders of a teacher are learned."""
        training: FormulaTraining = self._configured(settings)[-1]
        return training.is_taught

    def prepare(
        self, sources: TrainingSources, settings: TrainingSettings, folder: Path, say: Callable[[str], None]
    ) -> Sequence[Path]:
        """Write the trees of the formulas and, if a teacher is used, its orders."""
        return prepare_formulas(sources, folder, say, orders=self.is_taught(settings))

    def planned(self, settings: TrainingSettings) -> TrainingStages:
        """Return the one stage."""
        return {self.stage: lambda work: self._train(work, settings)}

    def _configured(self, settings: TrainingSettings) -> Configured:
        return self.configured(settings.config, settings.of(self.stage))

    def _train(self, work: StageWork, settings: TrainingSettings) -> StageResult:
        path = work.prepared / ORDERS
        teacher = Teacher.load(path) if self.is_taught(settings) and path.exists() else None
        shard = FormulaShard.load(work.prepared / FORMULAS)
        trainer = self.trainer(shard, self._configured(settings), teacher, work.resources.device)
        progress = train(trainer, work.folder(self.stage), work.resources, fresh=work.fresh)
        _copy_model(work.folder(self.stage), work.model)
        if ranking := self.published.get(settings.config):
            rank_as_published(work.model, {"formulas": ranking})
        return StageResult(progress.history, progress.done)


def _copy_model(stage: Path, model: Path) -> None:
    """Copy `config.json` and the files it names; do nothing if the stage has no model yet."""
    if not (stage / CONFIG).exists():
        return
    model.mkdir(parents=True, exist_ok=True)
    for name in (*read_config(stage)["sha256"], CONFIG):
        shutil.copyfile(stage / name, model / name)
