"""`Progress`: reports the progress, rate and remaining time of long work on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TextIO, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

T = TypeVar("T")


class Progress:
    """Counts items of long work: a live bar on a terminal, now and then a plain line in a log.

    `share` returns the part of the work that is done, from 0 to 1, or `None` where that is not known; without it the
    count is measured against `total`. Work that ends before the first line is due writes nothing to a log.

    >>> progress = Progress("reading", "posts", total=200, stream=sys.stdout, seconds_between_lines=0)
    >>> with progress:
    ...     progress.advance(50)  # doctest: +ELLIPSIS
    ...     progress.advance(50)
    reading: 50 posts, 25 %, ... posts/s
    reading: 100 posts, 50 %, ... posts/s, ... left
    reading: 100 posts in ... s, ... posts/s
    """

    def __init__(
        self,
        task: str,
        unit: str,
        total: int | None = None,
        share: Callable[[], float | None] | None = None,
        stream: TextIO | None = None,
        seconds_between_lines: float = 10.0,
    ) -> None:
        self.task, self.unit, self.total, self.done = task, unit, total, 0
        self._share = share
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        self._pause = 0.1 if self._live else seconds_between_lines
        self._started = self._due = 0.0
        self._first: tuple[float, float] | None = None
        """When the first items were done, and the part of the work that they were: before it a model may have been loaded."""
        self._bar: tuple[RichProgress, TaskID] | None = None

    def __enter__(self) -> Progress:
        self._started = time.monotonic()
        self._due = self._started + self._pause
        if self._live:
            self._bar = _bar(self.task, self._stream)
        return self

    def __exit__(self, *failure: object) -> None:
        if self._bar:
            self._bar[0].stop()
        seconds = time.monotonic() - self._started
        if failure[0] is None and seconds >= self._pause:
            parts = (f"{self.task}: {self._counted()} in {duration(seconds)}", self._rate(seconds))
            self._say(", ".join(filter(None, parts)))

    def advance(self, count: int = 1) -> None:
        """Count further items as done."""
        self.done += count
        now = time.monotonic()
        if self._first is None:
            self._first = (now, self._part() or 0.0)
        if now >= self._due:
            self._due = now + self._pause
            self._show(now)

    def each(self, items: Iterable[T]) -> Iterator[T]:
        """Yield the items and count each as done."""
        for item in items:
            yield item
            self.advance()

    def _show(self, now: float) -> None:
        seconds = now - self._started
        share = self._part()
        left = self._left(now, share or 0.0)
        if self._bar:
            bar, task = self._bar
            state = ", ".join(part for part in (self._counted(), self._rate(seconds), left) if part)
            bar.update(task, total=None if share is None else 1.0, completed=share or 0.0, state=state)
            return
        percent = "" if share is None else f"{100 * share:.0f} %"
        self._say(
            f"{self.task}: " + ", ".join(filter(None, (self._counted(), percent, self._rate(seconds), left)))
        )

    def _left(self, now: float, share: float) -> str:
        """Return the time that the rest takes at the rate since the first items were done; empty until that is known."""
        began, before = self._first or (0.0, 1.0)
        if share <= before:
            return ""
        return f"{duration((now - began) * (1 - share) / (share - before))} left"

    def _part(self) -> float | None:
        if self._share:
            share = self._share()
            return None if share is None else min(1.0, max(0.0, share))
        return min(1.0, self.done / self.total) if self.total else None

    def _counted(self) -> str:
        return f"{self.done:,} {self.unit}"

    def _rate(self, seconds: float) -> str:
        rate = self.done / max(seconds, 1e-9)
        if not self.done:
            return ""
        return f"{rate:,.0f} {self.unit}/s" if rate >= 10 else f"{rate:.1f} {self.unit}/s"

    def _say(self, line: str) -> None:
        print(line, file=self._stream, flush=True)


def duration(seconds: float) -> str:
    """Return a duration for people.

    >>> duration(4.2), duration(75), duration(7384), duration(300000)
    ('4.2 s', '1 min 15 s', '2 h 3 min', '3 d 11 h')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours // 24} d {hours % 24} h"


def _bar(task: str, stream: TextIO) -> tuple[RichProgress, TaskID]:
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as RichProgress

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[state]}"),
    )
    bar = RichProgress(*columns, console=Console(file=stream), transient=True)
    bar.start()
    return bar, bar.add_task(task, total=None, state="")
