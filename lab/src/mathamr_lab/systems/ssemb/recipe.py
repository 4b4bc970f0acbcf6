"""The recipe of SSEmb: trains StructEmb on formulas alone; the text encoder is unchanged."""

from __future__ import annotations

from pathlib import Path

import torch

from mathamr.core.errors import MathAMRError
from mathamr.graphs.formulashard import FormulaShard
from mathamr.systems.ssemb.context import ContextReader
from mathamr_lab.recipes.formularecipe import FormulaRecipe
from mathamr_lab.recipes.recipe import TrainingSettings
from mathamr_lab.systems.formulagraph.teacher import Teacher
from mathamr_lab.systems.ssemb.configuration import CONFIGURATIONS, Configurations, configured
from mathamr_lab.systems.ssemb.trainer import StructMaterials, StructTrainer


def _trainer(
    shard: FormulaShard, chosen: Configurations, teacher: Teacher | None, device: torch.device
) -> StructTrainer:
    model, augmentation, training = chosen
    materials = StructMaterials.of(shard, training, teacher)
    return StructTrainer(materials, model, augmentation, training, device)


class SsembRecipe(FormulaRecipe[Configurations]):
    """SSEmb's recipe; an index reads the text around formulas by an encoder that training does without."""

    def check_use(self, settings: TrainingSettings, base: Path | None) -> None:  # noqa: ARG002 - as other recipes
        """Refuse a text encoder that is not installed."""
        reader = self._configured(settings)[-1].reader
        try:
            assert not reader or ContextReader(reader).encoder.size
        except MathAMRError as error:
            raise MathAMRError(
                f"the model could be trained, and not used: its text is read by {reader!r}: {error}; or name an encoder that is"
                " here, as in --set structure.reader=mathamr-2"
            ) from error


RECIPE = SsembRecipe(
    stage="structure",
    configurations=tuple(CONFIGURATIONS),
    configured=configured,
    trainer=_trainer,
    published={"paper": "paper"},
)
