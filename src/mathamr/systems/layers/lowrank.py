"""Low-rank changes to the layers of a network: W x + B A x (Hu et al., LoRA, ICLR 2022).

A model that differs from an installed one by such changes is stored as the changes alone, some hundred kilobytes.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mathamr.core.errors import MathAMRError

DOWN, UP, CHANGE = "down", "up", "change"
"""The last part of a name: the two factors of a change to a module's matrix, and what is added to a parameter as it is."""


def merge(model: nn.Module, changes: dict[str, Tensor]) -> None:
    """Add the changes to the parameters of a plain network, which then computes what the changed network computed."""
    for name in sorted({name.rpartition(".")[0] for name in changes}):
        kept = changes.get(f"{name}.{CHANGE}")
        try:
            if kept is not None:
                target, added = model.get_parameter(name), kept.float()
            else:
                target = model.get_submodule(name).get_parameter("weight")
                added = changes[f"{name}.{UP}"].float() @ changes[f"{name}.{DOWN}"].float()
        except (AttributeError, KeyError, RuntimeError) as error:
            raise MathAMRError(
                f"the stored changes do not fit this text encoder: {name or 'a layer'} ({error}); install the encoder that the model was trained from"
            ) from error
        if target.shape != added.shape:
            raise MathAMRError(
                f"the stored changes do not fit this text encoder: layer {name} has another shape"
            )
        with torch.no_grad():
            target.add_(added.to(target))
