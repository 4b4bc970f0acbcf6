"""`BuildLog`: records the work and the duration of the stages of a build."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

from mathamr.core.progress import Progress

_SPANS = {
    "read": (0.0, 0.3), "lexical": (0.3, 0.34), "vectors": (0.34, 0.96), "visual": (0.96, 0.98), "optimize": (0.98, 1.0),
}  # fmt: skip
"""Which part of a build each stage takes, about, so that one bar shows all of them and the time that is left."""


@dataclass(slots=True)
class BuildLog:
    """Seconds and posts by stage, and the fallbacks that graphs needed."""

    seconds: dict[str, float] = field(default_factory=dict)
    posts: Counter[str] = field(default_factory=Counter)
    fallbacks: Counter[str] = field(default_factory=Counter)
    show: bool = False
    _done: float = field(default=0.0, repr=False)
    """The part of the whole build before the next stage."""
    _spans: dict[str, tuple[float, float]] = field(default_factory=lambda: dict(_SPANS), repr=False)

    def leave_out(self, name: str) -> None:
        """Give the part of a stage that will not be run to the one before it."""
        first, last = self._spans.pop(name, (0.0, 0.0))
        before = {each: begin for each, (begin, end) in self._spans.items() if end == first}
        self._spans |= {each: (begin, last) for each, begin in before.items()}

    @contextmanager
    def stage(
        self,
        name: str,
        unit: str = "posts",
        total: int | None = None,
        share: Callable[[], float | None] | None = None,
        of: tuple[int, int] = (0, 1),
    ) -> Iterator[Progress | None]:
        """Time a stage and show its progress as that of the whole build; `of` is its place among several of its kind."""
        started = time.perf_counter()
        first, last = self._spans.get(name, (self._done, self._done))
        width, (place, count) = last - first, of
        begin = max(self._done, first + width * place / count)
        end = max(begin, first + width * (place + 1) / count)

        def part_of_build() -> float | None:
            own = share() if share is not None else progress.done / total if progress and total else None
            return None if own is None else begin + (end - begin) * min(1.0, own)

        progress: Progress | None = None
        try:
            with Progress(name, unit, total, part_of_build) if self.show else nullcontext() as progress:
                yield progress
        finally:
            self._done = end
            self.add_seconds(name, time.perf_counter() - started)

    def add_seconds(self, name: str, seconds: float) -> None:
        """Count seconds of a stage."""
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds
