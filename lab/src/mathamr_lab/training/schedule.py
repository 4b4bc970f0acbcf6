"""The learning rate over a training: a rise, then half a cosine (thesis, section 3.4.5)."""

from __future__ import annotations

import math
from dataclasses import dataclass

DESCENT_RANGES = {
    "batch_size": (2, 1e6),
    "epochs": (1, 1e6),
    "learning_rate": (0, 10),
    "minimum_rate": (0, 10),
    "warmup": (0, 0.9),
    "weight_decay": (0, 10),
    "temperature": (1e-3, 100),
    "clip": (1e-9, 1e9),
    "seed": (0, 2**63 - 1),
}
"""What the settings may be that every training by contrast has."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The rates of so many steps; `warmup` is the share of them in which the rate rises."""

    steps: int
    warmup: float = 0.0

    def rate(self, step: int, highest: float = 1.0, lowest: float = 0.0) -> float:
        """The rate of a step: a linear rise to the highest, then half a cosine down to the lowest.

        >>> schedule = Schedule(8, warmup=0.5)
        >>> [round(schedule.rate(step, 1.0, 0.1), 3) for step in (0, 3, 4, 7)]
        [0.25, 1.0, 1.0, 0.232]
        """
        rising = int(self.warmup * self.steps)
        if step < rising:
            return highest * (step + 1) / rising
        turn = math.pi * (step - rising) / max(1, self.steps - rising)
        return lowest + (highest - lowest) * (1 + math.cos(turn)) / 2
