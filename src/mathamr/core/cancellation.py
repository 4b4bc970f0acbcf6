"""`Cancellation`: lets whoever waits for a piece of work stop it; the work asks now and then, and ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


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

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Make `check_cancelled` inside the block, in this thread, raise once this work is cancelled."""
        before = _APPLIED.set(self)
        try:
            yield
        finally:
            _APPLIED.reset(before)


_APPLIED: ContextVar[Cancellation | None] = ContextVar("cancellation", default=None)


def check_cancelled() -> None:
    """Raise `WorkCancelled` if the work that this thread does was cancelled; steps of unbounded loops call it."""
    applied = _APPLIED.get()
    if applied is not None and applied.is_cancelled:
        raise WorkCancelled
