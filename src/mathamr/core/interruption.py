"""`keeping`: says what is kept of work that the user stops with Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mathamr.core.errors import MathAMRError

STOPPED = 130
"""The exit code of a command that Ctrl-C stopped, as shells have it."""


class StoppedError(MathAMRError):
    """Raised when the user has stopped the work; its text says what is kept of it."""

    def __init__(self, kept: str = "") -> None:
        super().__init__(f"stopped; {kept}" if kept else "stopped")


@contextmanager
def keeping(kept: Callable[[], str]) -> Iterator[None]:
    """Turn Ctrl-C inside the block into a `StoppedError` that says what is kept.

    >>> with keeping(lambda: "3 posts are kept"):
    ...     raise KeyboardInterrupt
    Traceback (most recent call last):
    mathamr.core.interruption.StoppedError: stopped; 3 posts are kept
    """
    try:
        yield
    except KeyboardInterrupt:
        raise StoppedError(kept()) from None
