"""`SharedLock`: a lock that many readers share or one writer holds alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class SharedLock:
    """Readers share it, a writer holds it alone; a thread may take it again in the mode in which it holds it.

    A writer that has waited for half a second goes before later readers, so that neither starves.
    """

    PATIENCE = 0.5

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._readers = 0
        self._waiting = 0
        self._writer: int | None = None
        self._depth = 0
        self._own = threading.local()

    def _is_free(self) -> bool:
        return self._writer is None and not self._readers

    @contextmanager
    def shared(self) -> Iterator[None]:
        """While this is held, nothing changes."""
        held: int = getattr(self._own, "held", 0)
        if held == 0 and self._writer != threading.get_ident():
            with self._changed:
                self._changed.wait_for(lambda: self._writer is None and not self._waiting)
                self._readers += 1
            self._own.reads = True
        self._own.held = held + 1
        try:
            yield
        finally:
            self._own.held = held
            if held == 0 and getattr(self._own, "reads", False):
                self._own.reads = False
                with self._changed:
                    self._readers -= 1
                    self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """While this is held, nobody else reads or changes."""
        if getattr(self._own, "reads", False):
            raise RuntimeError("a thread that holds the lock for reading cannot take it for writing")
        me = threading.get_ident()
        with self._changed:
            if self._writer != me:
                if not self._changed.wait_for(self._is_free, self.PATIENCE):
                    self._waiting += 1
                    try:
                        self._changed.wait_for(self._is_free)
                    finally:
                        self._waiting -= 1
                self._writer = me
            self._depth += 1
        try:
            yield
        finally:
            with self._changed:
                self._depth -= 1
                if not self._depth:
                    self._writer = None
                self._changed.notify_all()
