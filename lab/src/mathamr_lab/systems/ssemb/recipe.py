"""The recipe of SSEmb: trains StructEmb on formulas alone; the text encoder is unchanged."""

from __future__ import annotations

import torch

from mathamr.graphs.formulashard import FormulaShard
from mathamr_lab.recipes.formularecipe import FormulaRecipe
from mathamr_lab.systems.formulagraph.teacher import Teacher
from mathamr_lab.systems.ssemb.configuration import CONFIGURATIONS, Configurations, configured
from mathamr_lab.systems.ssemb.trainer import StructMaterials, StructTrainer


def _trainer(
    shard: FormulaShard, chosen: Configurations, teacher: Teacher | None, device: torch.device
) -> StructTrainer:
    model, augmentation, training = chosen
    materials = StructMaterials.of(shard, training, teacher)
    return StructTrainer(materials, model, augmentation, training, device)


RECIPE = FormulaRecipe(
    stage="structure",
    configurations=tuple(CONFIGURATIONS),
    configured=configured,
    trainer=_trainer,
    published={"paper": "paper"},
)
