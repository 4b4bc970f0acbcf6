"""The learning rate over a training: a linear rise, then half a cosine (thesis, section 3.4.5)."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Schedule:
    """The rates of all steps; `warmup` is the share of them in which the rate rises."""

    steps: int
    warmup: float = 0.0

    def rate(self, step: int, highest: float = 1.0, lowest: float = 0.0) -> float:
        """Returns the rate of a step: a linear rise to the highest, then half a cosine down to the lowest.

        >>> schedule = Schedule(8, warmup=0.5)
        >>> [round(schedule.rate(step, 1.0, 0.1), 3) for step in (0, 3, 4, 7)]
        [0.25, 1.0, 1.0, 0.232]
        """
        rising = int(self.warmup * self.steps)
        if step < rising:
            return highest * (step + 1) / rising
        turn = math.pi * (step - rising) / max(1, self.steps - rising)
        return lowest + (highest - lowest) * (1 + math.cos(turn)) / 2
