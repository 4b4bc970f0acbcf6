"""`BuildLog`: records the work and the duration of the stages of a build."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

from mathamr.core.progress import Progress


@dataclass(slots=True)
class BuildLog:
    """Seconds and posts by stage, and the fallbacks that graphs needed."""

    seconds: dict[str, float] = field(default_factory=dict)
    began: dict[str, float] = field(default_factory=dict)
    """The first start of each stage, in seconds since the log was created."""
    posts: Counter[str] = field(default_factory=Counter)
    fallbacks: Counter[str] = field(default_factory=Counter)
    show: bool = False
    _since: float = field(default_factory=time.perf_counter, repr=False)

    @contextmanager
    def stage(
        self,
        name: str,
        unit: str = "posts",
        total: int | None = None,
        share: Callable[[], float | None] | None = None,
    ) -> Iterator[Progress | None]:
        """Times a stage and shows its progress."""
        started = time.perf_counter()
        self.began.setdefault(name, started - self._since)
        try:
            with Progress(name, unit, total, share) if self.show else nullcontext() as progress:
                yield progress
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started
