"""`StageTimer`: the time that each stage of a search takes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from mathamr.core.cancellation import check_cancelled


class StageTimer:
    """Seconds by stage, in the order in which the stages began; the times of a repeated stage add up."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Add the time of the block to a stage, unless the search was cancelled before it."""
        check_cancelled()
        self.seconds.setdefault(stage, 0.0)
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] += time.perf_counter() - started
