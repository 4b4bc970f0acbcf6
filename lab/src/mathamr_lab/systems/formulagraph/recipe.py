"""The recipe of formula graphs: two networks, trained together on formulas alone."""

from __future__ import annotations

import torch

from mathamr.graphs.formulashard import FormulaShard
from mathamr_lab.recipes.formularecipe import FormulaRecipe
from mathamr_lab.systems.formulagraph.configuration import CONFIGURATIONS, Configurations, configured
from mathamr_lab.systems.formulagraph.materials import FormulaMaterials
from mathamr_lab.systems.formulagraph.teacher import Teacher
from mathamr_lab.systems.formulagraph.trainer import NodeTrainer


def _trainer(
    shard: FormulaShard,
    chosen: Configurations,
    teacher: Teacher | None,
    device: torch.device,
) -> NodeTrainer:
    model, training = chosen
    return NodeTrainer(FormulaMaterials.of(shard, training, teacher), model, training, device)


RECIPE = FormulaRecipe(
    stage="nodes",
    configurations=tuple(CONFIGURATIONS),
    configured=configured,
    trainer=_trainer,
    published={"paper": "max"},
)
