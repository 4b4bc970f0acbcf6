"""How work grows with the size of its input: the slope of processor time over three sizes, for a generator of hostile inputs."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import log

NOTHING = 0.03
"""Seconds of processor time that say nothing about growth."""


def seconds(run: Callable[[], object]) -> float:
    """Return the processor time of a call in this thread."""
    begun = time.thread_time()
    run()
    return time.thread_time() - begun


def slope(run: Callable[[int], object], largest: int, nothing: float = NOTHING) -> float:
    """Return the power of the size with which the time of a call grows up to the largest; 0 where it is too short to say.

    It is measured again before it counts as steep, so that a busy machine is not taken for a quadratic reader.
    """
    found = 0.0
    for _ in range(3):
        small, large = (seconds(lambda size=size: run(size)) for size in (largest // 4, largest))
        if large < nothing:
            return 0.0
        found = log(large / max(small, 1e-6), 4)
        if found < 1.3:
            return found
    return found
