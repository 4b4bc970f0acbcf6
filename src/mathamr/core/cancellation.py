"""`Cancellation`: lets whoever waits for a piece of work stop it; the work asks now and then, and ends.

`ProcessorBudget` is cancelled by itself, after some seconds of a processor.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import thread_time


class WorkCancelled(BaseException):
    """Raised inside work that was cancelled.

    It is not an `Exception`, so that code which goes on after an error (a formula that cannot be read, a drawing
    without marks) ends too.
    """


class Cancellation:
    """The state of one piece of work; any thread may cancel it.

    >>> cancellation = Cancellation()
    >>> cancellation.cancel()
    >>> with cancellation.applied():
    ...     check_cancelled()
    Traceback (most recent call last):
    mathamr.core.cancellation.WorkCancelled
    """

    __slots__ = ("is_cancelled",)

    def __init__(self) -> None:
        self.is_cancelled = False

    def cancel(self) -> None:
        """Make the work end at its next check."""
        self.is_cancelled = True

    @property
    def is_over(self) -> bool:
        """True once the work is cancelled."""
        return self.is_cancelled

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Make `check_cancelled` inside the block, in this thread, raise once this work is cancelled."""
        before = _APPLIED.set(self)
        try:
            yield
        finally:
            _APPLIED.reset(before)


class ProcessorBudget(Cancellation):
    """Work that this thread does from now on, which is cancelled once it has taken so many seconds of a processor."""

    __slots__ = ("_end",)

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._end = thread_time() + seconds

    @property
    def is_over(self) -> bool:
        """True once the seconds are spent, or somebody cancelled the work."""
        return self.is_cancelled or thread_time() > self._end


_APPLIED: ContextVar[Cancellation | None] = ContextVar("cancellation", default=None)


def check_cancelled() -> None:
    """Raise `WorkCancelled` if the work that this thread does was cancelled; steps of unbounded loops call it."""
    applied = _APPLIED.get()
    if applied is not None and applied.is_over:
        raise WorkCancelled
