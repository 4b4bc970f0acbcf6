"""`Optimiser`: AdamW with a scheduled rate and clipped gradients, the one set-up of all trainings; its state can be stored and resumed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

_MOMENTS = ("step", "exp_avg", "exp_avg_sq")


@dataclass(frozen=True, slots=True)
class Schedule:
    """The rates of all steps: a linear rise, then half a cosine (thesis, section 3.4.5); `warmup` is the share of steps in which the rate rises."""

    steps: int
    warmup: float = 0.0

    def rate(self, step: int, highest: float = 1.0, lowest: float = 0.0) -> float:
        """Return the rate of a step.

        >>> schedule = Schedule(8, warmup=0.5)
        >>> [round(schedule.rate(step, 1.0, 0.1), 3) for step in (0, 3, 4, 7)]
        [0.25, 1.0, 1.0, 0.232]
        """
        rising = int(self.warmup * self.steps)
        if step < rising:
            return highest * (step + 1) / rising
        turn = math.pi * (step - rising) / max(1, self.steps - rising)
        return lowest + (highest - lowest) * (1 + math.cos(turn)) / 2


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ParameterGroup:
    """Parameters by name that learn at one rate, which falls to `minimum_rate`."""

    parameters: Mapping[str, nn.Parameter]
    rate: float
    minimum_rate: float = 0.0
    weight_decay: float = 0.0


class Optimiser:
    """Updates groups of parameters; the gradients of `clipped`, by default of all of them, are clipped together."""

    def __init__(
        self,
        groups: Sequence[ParameterGroup],
        schedule: Schedule,
        *,
        clip: float = math.inf,
        clipped: Iterable[nn.Parameter] | None = None,
        fused: bool = False,
    ) -> None:
        self._groups, self._schedule, self._clip, self._fused = groups, schedule, clip, fused
        self._named = {name: each for group in groups for name, each in group.parameters.items()}
        self._clipped = list(self._named.values() if clipped is None else clipped)
        self._adamw = torch.optim.AdamW(
            [
                {
                    "params": list(group.parameters.values()),
                    "lr": group.rate,
                    "weight_decay": group.weight_decay,
                }
                for group in groups
            ],
            fused=fused or None,
        )

    def rate(self, number: int) -> float:
        """Return the rate of the first group at a step."""
        first = self._groups[0]
        return self._schedule.rate(number, first.rate, first.minimum_rate)

    def begin(self, number: int) -> None:
        """Begin step `number`, counted over all epochs: set the rates and forget the gradients."""
        for settings, group in zip(self._adamw.param_groups, self._groups, strict=True):
            settings["lr"] = self._schedule.rate(number, group.rate, group.minimum_rate)
        self._adamw.zero_grad(set_to_none=True)

    def update(self) -> None:
        """End a step: clip the gradients and change the parameters."""
        if math.isfinite(self._clip):
            nn.utils.clip_grad_norm_(self._clipped, self._clip)
        self._adamw.step()

    def minimise(self, loss: Tensor, number: int) -> Tensor:
        """Take a whole step; the loss stays on its device."""
        self.begin(number)
        torch.autograd.backward(loss)
        self.update()
        return loss.detach()

    def state(self) -> dict[str, Tensor]:
        """Return the moments by name."""
        return {
            f"optimiser.{kind}.{name}": torch.as_tensor(value)
            for name, parameter in self._named.items()
            for kind, value in self._adamw.state.get(parameter, {}).items()
        }

    def use_state(self, state: Mapping[str, Tensor]) -> None:
        """Restore the moments that `state` returned."""
        for name, parameter in self._named.items():
            moments: dict[str, Any] = {}
            for kind in _MOMENTS:
                value = state.get(f"optimiser.{kind}.{name}")
                if value is not None:
                    # An optimiser that is not fused counts its steps on the processor.
                    on_processor = kind == "step" and not self._fused
                    moments[kind] = value.to("cpu" if on_processor else parameter.device)
            if moments:
                self._adamw.state[parameter] = moments
