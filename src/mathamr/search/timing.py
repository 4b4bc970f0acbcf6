"""`StageTimer`: where the time of a search goes, by stage."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class StageTimer:
    """Seconds by stage, in the order in which the stages began; a stage that comes again adds to its time."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """The time inside the block goes to the stage."""
        self.seconds.setdefault(stage, 0.0)
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] += time.perf_counter() - started
