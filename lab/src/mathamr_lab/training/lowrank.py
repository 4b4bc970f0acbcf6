"""Layers that learn low-rank changes to a frozen network: W x + B A x (Hu et al., LoRA, ICLR 2022)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn

from mathamr.core.errors import MathAMRError
from mathamr.systems.layers.lowrank import CHANGE, DOWN, UP


class LowRank(nn.Module):
    """A frozen linear layer and a trainable change to it, which is zero at first."""

    def __init__(self, linear: nn.Linear, rank: int) -> None:
        super().__init__()
        if not 1 <= rank <= min(linear.in_features, linear.out_features):
            raise MathAMRError(
                f"a change of a layer from {linear.in_features} to {linear.out_features} has a rank of at most"
                f" {min(linear.in_features, linear.out_features)}, not {rank}"
            )
        self.linear = linear.requires_grad_(False)
        place = linear.weight.device
        self.down = nn.Parameter(torch.empty(rank, linear.in_features, device=place))
        self.up = nn.Parameter(torch.zeros(linear.out_features, rank, device=place))
        nn.init.kaiming_uniform_(self.down, a=5**0.5)

    def forward(self, x: Tensor) -> Tensor:
        """Return the output of the layer plus that of the change."""
        result: Tensor = self.linear(x) + (x @ self.down.T) @ self.up.T
        return result


def add_changes(model: nn.Module, rank: int, within: Iterable[str] = ("layers",)) -> list[str]:
    """Freeze a network and add a change to every linear layer below these parts; return the names of the layers."""
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    roots = tuple(f"{part}." for part in within)
    names = [
        name
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear) and name.startswith(roots)
    ]
    for name in names:
        parent, _, last = name.rpartition(".")
        owner = model.get_submodule(parent)
        setattr(owner, last, LowRank(getattr(owner, last), rank))
    return names


def changes_of(model: nn.Module) -> dict[str, Tensor]:
    """Return the changes of a network's layers, by the layer's name."""
    return {
        f"{name}.{kind}": getattr(module, kind).detach()
        for name, module in model.named_modules()
        if isinstance(module, LowRank)
        for kind in (DOWN, UP)
    }


def changes_between(
    before: Mapping[str, Tensor], after: Mapping[str, Tensor], rank: int
) -> dict[str, Tensor]:
    """Return the difference of two states: of every larger matrix the best approximation of this rank, all else as it is.

    >>> before, after = {"a.weight": torch.zeros(3, 2)}, {"a.weight": torch.tensor([[1.0, 2.0], [2.0, 4.0], [0.0, 0.0]])}
    >>> found = changes_between(before, after, 1)
    >>> torch.allclose(found["a.up"] @ found["a.down"], after["a.weight"])
    True
    """
    found: dict[str, Tensor] = {}
    for name, value in after.items():
        change = value.detach().cpu().double() - before[name].cpu().double()
        if not bool(change.any()):
            continue
        if change.ndim != 2 or min(change.shape) <= rank or not name.endswith(".weight"):
            found[f"{name}.{CHANGE}"] = change.float()
            continue
        module = name.removesuffix(".weight")
        # The directions of the rows that hold most of the difference.
        _, directions = torch.linalg.eigh(change.T @ change)
        down = directions[:, -rank:].T
        found[f"{module}.{DOWN}"], found[f"{module}.{UP}"] = down.float(), (change @ down.T).float()
    return found
