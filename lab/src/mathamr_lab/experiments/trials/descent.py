"""`descend`: minimises a loss over batches by AdamW, and keeps the epoch with the lowest validation loss."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from mathamr.core.errors import MathAMRError
from mathamr_lab.experiments.trials.publishedbase import mixed
from mathamr_lab.experiments.trials.scorefiles import say

Example = TypeVar("Example")
WARMUP, CLIP = 0.1, 1.0


@dataclass(slots=True)
class Descent:
    """What a training went through: the mean loss of every epoch, that of validation, and the epoch that was kept (0: none)."""

    steps: int = 0
    losses: list[float] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)
    kept: int = 0


def descend(
    model: nn.Module,
    examples: Sequence[Example],
    loss: Callable[[Sequence[Example], np.random.Generator], Tensor],
    *,
    epochs: int,
    batch: int,
    rate: float,
    seed: int,
    device: torch.device,
    held: Sequence[Example] = (),
    before: bool = False,
    seconds: float | None = None,
) -> Descent:
    """Trains the parameters that need a gradient, with a rate that rises in the first tenth and falls to zero.

    With `held` examples the epoch with the lowest loss over them is restored; with `before`, the state before the
    first epoch may be the one. `seconds` ends the training early: then the rate falls with the clock.
    """
    learned = [each for each in model.parameters() if each.requires_grad]
    # Neighbours are often of one topic, and easy or impossible to tell apart.
    held = (
        [held[place] for place in np.random.default_rng(seed).permutation(len(held))] if len(held) > 1 else []
    )
    optimiser = torch.optim.AdamW(learned, lr=rate, weight_decay=0.01)
    chance = np.random.default_rng([seed, 17])
    total = max(1, epochs * -(-len(examples) // batch))
    found, best, kept = Descent(), float("inf"), [each.detach().clone() for each in learned]

    def validated(epoch: int) -> None:
        nonlocal best, kept
        found.validation.append(_mean_loss(model, held, loss, batch, seed, device))
        if found.validation[-1] < best:
            best, kept, found.kept = found.validation[-1], [each.detach().clone() for each in learned], epoch

    if held and before:
        validated(0)
    began = time.monotonic()
    for epoch in range(1, epochs + 1):
        order = chance.permutation(len(examples))
        sums, steps = torch.zeros((), device=device), 0
        for start in range(0, len(order), batch):
            chosen = [examples[place] for place in order[start : start + batch]]
            if len(chosen) < 2:
                continue
            share = found.steps / total
            if seconds is not None:
                share = max(share, (time.monotonic() - began) / seconds)
            if share >= 1:
                break
            for group in optimiser.param_groups:
                group["lr"] = rate * min(
                    share / WARMUP if share < WARMUP else 1.0, (1 - share) / (1 - WARMUP)
                )
                group["lr"] = max(group["lr"], rate / total)
            model.train()
            optimiser.zero_grad(set_to_none=True)
            with mixed(device):
                value = loss(chosen, chance)
            torch.autograd.backward(value)
            nn.utils.clip_grad_norm_(learned, CLIP)
            optimiser.step()
            sums += value.detach()
            steps, found.steps = steps + 1, found.steps + 1
        if not steps:
            break
        found.losses.append(float(sums) / steps)
        if not np.isfinite(found.losses[-1]):
            raise MathAMRError(f"the loss is no longer a number in epoch {epoch}; try a lower rate")
        if held:
            validated(epoch)
        shown = f", {found.validation[-1]:.4f} of held-out examples" if held else ""
        say(f"  epoch {epoch}/{epochs}: loss {found.losses[-1]:.4f}{shown}")
    if held:
        with torch.no_grad():
            for parameter, value in zip(learned, kept, strict=True):
                parameter.copy_(value)
    else:
        found.kept = len(found.losses)
    model.eval()
    return found


@torch.no_grad()
def _mean_loss(
    model: nn.Module,
    held: Sequence[Example],
    loss: Callable[[Sequence[Example], np.random.Generator], Tensor],
    batch: int,
    seed: int,
    device: torch.device,
) -> float:
    model.eval()
    values = []
    for start in range(0, len(held), batch):
        chosen = held[start : start + batch]
        if len(chosen) > 1:
            with mixed(device):
                values.append(float(loss(chosen, np.random.default_rng([seed, start]))))
    return float(np.mean(values)) if values else float("inf")
