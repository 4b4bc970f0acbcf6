"""`ConnectionCounts` and `FairListener`: processes that take connections from one queue take turns.

Whoever is woken first takes a connection, and on a busy machine that is often the same process many times in a row; clients keep their
connections, so that theirs would wait behind each other while another process has little to do.
"""

from __future__ import annotations

import mmap
import socket
import time
from typing import Any

PATIENCE, STEP = 20, 0.001
"""How often a process that has more connections than another leaves the next one to it, and for how many seconds each time: one that
is stopped does not keep clients waiting."""
_SIZE, _AWAY = 8, 1 << 60


class ConnectionCounts:
    """How many connections each of some processes has, in memory that they share; made before they are forked."""

    def __init__(self, processes: int) -> None:
        self._numbers = memoryview(mmap.mmap(-1, _SIZE * processes)).cast("q")
        self.own = 0
        """Which of the processes this one is."""
        for number in range(processes):
            self._numbers[number] = _AWAY

    def tell(self, count: int) -> None:
        """This process has so many now; before it has told this for the first time, nothing is left to it."""
        self._numbers[self.own] = count

    def leave(self) -> None:
        """This process takes no more."""
        self._numbers[self.own] = _AWAY

    @property
    def is_ahead(self) -> bool:
        """Whether this process has more than another."""
        return self._numbers[self.own] > min(self._numbers)


class FairListener(socket.socket):
    """A listening socket of several processes, from which one that is ahead of another takes nothing for a moment.

    It takes the place of the one it is made of.
    """

    def __init__(self, listening: socket.socket, counts: ConnectionCounts) -> None:
        super().__init__(listening.family, listening.type, listening.proto, listening.detach())
        self._counts, self._left = counts, 0

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection; `BlockingIOError`, as where there is none, if another process should have it."""
        if self._counts.is_ahead and self._left < PATIENCE:
            self._left += 1
            time.sleep(STEP)
            raise BlockingIOError
        self._left = 0
        return super().accept()
