"""`BuildLog`: records the work and the duration of the stages of a build."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from mathamr.core.progress import Progress
from mathamr.systems.field import FieldTarget
from mathamr.systems.system import Need

WORK = {"read": 1.0, "lexical": 0.1, "vectors": 6.0, "visual": 0.8, "optimize": 0.1}
"""What the stages of a build take, about, against reading; measured over 120 posts with the models in the box."""
WORK_OF_GRAPHS = 18.0
"""The same of vectors for which graphs are made."""


def spans_of(work: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """Return which part of a build each stage takes, so that one bar shows all of them and the time that is left.

    >>> spans_of({"read": 1, "vectors": 3})
    {'read': (0.0, 0.25), 'vectors': (0.25, 1.0)}
    """
    ends = [end / sum(work.values()) for end in accumulate(work.values(), initial=0.0)]
    return dict(zip(work, pairwise(ends), strict=True))


@dataclass(slots=True)
class BuildLog:
    """Seconds and posts by stage, and the fallbacks that graphs needed."""

    seconds: dict[str, float] = field(default_factory=dict)
    posts: Counter[str] = field(default_factory=Counter)
    fallbacks: Counter[str] = field(default_factory=Counter)
    show: bool = False
    _done: float = field(default=0.0, repr=False)
    """The part of the whole build before the next stage."""
    _spans: dict[str, tuple[float, float]] = field(default_factory=lambda: spans_of(WORK), repr=False)

    def plan(self, needs: frozenset[Need], targets: Collection[FieldTarget]) -> None:
        """Divide the bar among the stages that a model with these needs and fields has."""
        work = dict(WORK)
        if needs & {"graph", "tensor"}:
            work["vectors"] = WORK_OF_GRAPHS
        if not {"posts", "formulas"} & {*targets}:
            del work["vectors"]
        if "visual" not in targets:
            del work["visual"]
        self._spans = spans_of(work)

    def leave_out(self, name: str) -> None:
        """Give the share of progress of a stage that is skipped to the stage before it."""
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
