"""`PriorityLock`: a lock that someone who waits for an answer takes before work that can wait."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class PriorityLock:
    """A lock for one thread at a time; ``with lock:`` goes before ``with lock.yielding():``.

    A plain lock is not fair: a thread that releases and takes it in a loop keeps those who wait out of it for seconds. Here a
    thread that yields lets all others go first, but for no longer than `patience` seconds each time, so that it gets on
    however many they are.
    """

    def __init__(self, patience: float = 1.0) -> None:
        self._patience = patience
        self._changed = threading.Condition()
        self._held = False
        self._waiting = 0

    def __enter__(self) -> None:
        with self._changed:
            self._waiting += 1
            try:
                self._changed.wait_for(lambda: not self._held)
            finally:
                self._waiting -= 1
            self._held = True

    def __exit__(self, *error: object) -> None:
        with self._changed:
            self._held = False
            self._changed.notify_all()

    def locked(self) -> bool:
        """Return True if a thread holds it."""
        return self._held

    @contextmanager
    def yielding(self) -> Iterator[None]:
        """Take the lock when nobody else waits for it, or after `patience` seconds."""
        self._take_last()
        token = _YIELDING.set(self)
        try:
            yield
        finally:
            _YIELDING.reset(token)
            self.__exit__()

    def _take_last(self) -> None:
        with self._changed:
            if not self._changed.wait_for(lambda: not self._held and not self._waiting, self._patience):
                self._changed.wait_for(lambda: not self._held)
            self._held = True

    def _give_way(self) -> None:
        if self._waiting:
            self.__exit__()
            self._take_last()


_YIELDING: ContextVar[PriorityLock | None] = ContextVar("yielding", default=None)


def give_way() -> None:
    """Let those who wait go first if this thread took a lock by `yielding`: long work calls it where it can stop."""
    if (lock := _YIELDING.get()) is not None:
        lock._give_way()
