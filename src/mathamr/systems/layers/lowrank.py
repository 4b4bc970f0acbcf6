"""Low-rank changes to the layers of a network: W x + B A x (Hu et al., LoRA, ICLR 2022).

A model that differs from an installed one by such changes is stored as the changes alone, some hundred kilobytes.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mathamr.core.errors import MathAMRError

DOWN, UP = "down", "up"


def merge(model: nn.Module, changes: dict[str, Tensor]) -> None:
    """Adds the changes to the layers of a plain network, which then computes what the changed network computed."""
    names = sorted({name.rpartition(".")[0] for name in changes})
    for name in names:
        try:
            layer = model.get_submodule(name)
            down, up = changes[f"{name}.{DOWN}"].float(), changes[f"{name}.{UP}"].float()
        except (AttributeError, KeyError) as error:
            raise MathAMRError(
                f"these changes belong to another network: {name or 'a layer'} ({error})"
            ) from error
        weight = getattr(layer, "weight", None)
        if not isinstance(layer, nn.Linear) or weight is None or (up @ down).shape != weight.shape:
            raise MathAMRError(f"these changes belong to another network: {name} has another shape")
        with torch.no_grad():
            weight += (up @ down).to(weight)
