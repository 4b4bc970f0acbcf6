"""The recipe of SSEmb: StructEmb from formulas alone; the text encoder is taken as it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from mathamr.errors import MathAMRError
from mathamr.graphs.formulashard import FormulaShard
from mathamr.systems.formulagraph.teacher import Teacher
from mathamr.systems.ssemb.configuration import CONFIGURATIONS, configured
from mathamr.systems.ssemb.trainer import StructMaterials, StructTrainer
from mathamr.systems.training.formulas import FORMULAS, ORDERS, prepare_formulas
from mathamr.systems.training.modelfiles import copy_model
from mathamr.systems.training.recipe import (
    StageResult,
    StageWork,
    TrainingSettings,
    TrainingSources,
    TrainingStage,
)
from mathamr.training.loop import train

STAGE = "structure"


class SsembRecipe:
    """One network, trained on formulas alone."""

    configurations = tuple(CONFIGURATIONS)
    stages = (STAGE,)

    def check(self, settings: TrainingSettings) -> None:
        """Refuses settings that cannot be trained."""
        settings.checked(self.stages)
        configured(settings.config, settings.of(STAGE))

    def prepare(
        self, sources: TrainingSources, settings: TrainingSettings, folder: Path, say: Callable[[str], None]
    ) -> Sequence[Path]:
        """Writes the trees of the formulas and, where a teacher is learnt from, its orders."""
        _, _, training = configured(settings.config, settings.of(STAGE))
        return prepare_formulas(sources, folder, say, orders=training.teacher > 0)

    def planned(self, settings: TrainingSettings) -> Sequence[TrainingStage]:
        """The one stage."""
        return [TrainingStage(STAGE, lambda work: _structure(work, settings))]


RECIPE = SsembRecipe()


def _structure(work: StageWork, settings: TrainingSettings) -> StageResult:
    if work.resources.processes.count > 1:
        raise MathAMRError("SSEmb is trained by one process")
    model, augmentation, training = configured(settings.config, settings.of(STAGE))
    path = work.prepared / ORDERS
    teacher = Teacher.load(path) if training.teacher and path.exists() else None
    materials = StructMaterials.of(FormulaShard.load(work.prepared / FORMULAS), training, teacher)
    trainer = StructTrainer(materials, model, augmentation, training, work.resources.device)
    progress = train(trainer, work.folder(STAGE), work.resources, fresh=work.fresh)
    copy_model(work.folder(STAGE), work.model)
    return StageResult(progress.history, progress.done)
