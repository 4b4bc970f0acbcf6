"""`ConnectionCounts` and `FairListener`: balance the connections of one listening socket between several processes.

The operating system gives a connection to the process that wakes first, on a busy machine often the same one many times in a
row. Clients keep their connections open, so they would wait behind each other while another process is idle.
"""

from __future__ import annotations

import mmap
import socket
import time
from typing import Any

PATIENCE, STEP = 20, 0.001
"""How often, and for how many seconds each time, a process leaves the next connection to one that has fewer. The number is
bounded so that a stopped process does not keep clients waiting."""
_SIZE, _AWAY = 8, 1 << 60


class ConnectionCounts:
    """The number of connections of each process, in shared memory; create it before forking."""

    def __init__(self, processes: int) -> None:
        self._numbers = memoryview(mmap.mmap(-1, _SIZE * processes)).cast("q")
        self.own = 0
        """The number of this process among them."""
        for number in range(processes):
            self._numbers[number] = _AWAY

    def tell(self, count: int) -> None:
        """Records how many connections this process has; before the first call no other process defers to it."""
        self._numbers[self.own] = count

    def leave(self) -> None:
        """Records that this process accepts no more connections."""
        self._numbers[self.own] = _AWAY

    @property
    def is_ahead(self) -> bool:
        """True if another process has fewer connections than this one."""
        return self._numbers[self.own] > min(self._numbers)


class FairListener(socket.socket):
    """A listening socket shared by several processes; one with more connections than another pauses before it accepts.

    It takes over the descriptor of the socket it is built from.
    """

    def __init__(self, listening: socket.socket, counts: ConnectionCounts) -> None:
        super().__init__(listening.family, listening.type, listening.proto, listening.detach())
        self._counts, self._left = counts, 0

    def accept(self) -> tuple[socket.socket, Any]:
        """Accepts the next connection; raises `BlockingIOError`, as if there were none, if another process should take it."""
        if self._counts.is_ahead and self._left < PATIENCE:
            self._left += 1
            time.sleep(STEP)
            raise BlockingIOError
        self._left = 0
        return super().accept()
