"""`Connections`: the open connections of a server, with the limits on their time and number that uvicorn lacks.

uvicorn's `limit_concurrency` counts idle connections too, so that clients who only hold connections open would lock
everybody out, and it has no time limit for a request's head or for a client that stops reading. uvicorn is given a
`Listener` to listen on; the connections that it accepts are sockets that know when they last moved. The middleware
reports whose turn it is, and nothing of uvicorn is overridden.
"""

from __future__ import annotations

import asyncio
import resource
import socket
import struct
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from mathamr.serve.limits import Limits

OWN_FILES = 160
"""Files, pipes and databases that an index, its threads and its parser may have open at a time."""
RESERVE = 16
"""Connections above the limit, on which only health checks are answered and everything else is refused with 429."""
FEWEST = 8
"""Connections that are kept open however few files the system grants."""
_AT_ONCE = struct.pack("ii", 1, 0)
"""The value of `SO_LINGER` that drops what a client has not read when its connection is closed."""


def fit_to_files(limits: Limits) -> Limits:
    """Raise the process's limit of open files as far as the system allows, and lower the limit on connections to what that
    leaves beside the index's own files.

    A server that took every descriptor for connections could not open the next file of its index.
    """
    wanted = limits.connections + OWN_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return limits
    return replace(limits, connections=max(FEWEST, soft - OWN_FILES))


class Connections:
    """The connections of one process, by the address of their client; only used on the event loop."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._open: dict[tuple[str, int], Connection] = {}
        self._is_watching = False

    def __len__(self) -> int:
        return len(self._open)

    def of(self, scope: Mapping[str, Any]) -> Connection | None:
        """Return the connection of a request; None where there is no socket of ours behind it."""
        client = scope.get("client")
        return self._open.get((client[0], client[1])) if client else None

    def add(self, connection: Connection) -> bool:
        """Register a connection, and end another one where there are too many; False if there is no room for it."""
        if len(self._open) >= self.limits.connections:
            victim = self._victim(connection.peer[0])
            if victim is not None:
                self.remove(victim)
                victim.end()
        admitted = sum(each.is_admitted for each in self._open.values())
        connection.is_admitted = admitted < self.limits.connections
        if not connection.is_admitted and len(self._open) >= self.limits.connections + RESERVE:
            return False
        self._open[connection.peer] = connection
        connection.wait_for_client(self.limits.head_seconds)
        self._watch()
        return True

    def remove(self, connection: Connection) -> None:
        """Forget a connection; one that is not registered is ignored."""
        if self._open.get(connection.peer) is connection:
            del self._open[connection.peer]

    def _victim(self, host: str) -> Connection | None:
        """Return the connection to end for a new one: the one that has kept the server waiting longest.

        If the server waits for none, one of the client with most connections, if that client has more than `host`.
        """
        waiting = [each for each in self._open.values() if each.waiting_since is not None]
        if waiting:
            return min(waiting, key=lambda each: each.waiting_since or 0.0)
        counts = Counter(each.peer[0] for each in self._open.values())
        most, count = counts.most_common(1)[0]
        if count <= counts[host] + 1:
            return None
        return next(each for each in reversed(self._open.values()) if each.peer[0] == most)

    def _watch(self) -> None:
        """Look for overdue clients again after a part of the shortest limit, as long as there are connections."""
        if self._open and not self._is_watching:
            self._is_watching = True
            interval = min(1.0, self.limits.head_seconds / 4, self.limits.send_seconds / 4)
            asyncio.get_running_loop().call_later(interval, self._end_overdue)

    def _end_overdue(self) -> None:
        self._is_watching = False
        now = time.monotonic()
        for each in [each for each in self._open.values() if each.is_overdue(now)]:
            self.remove(each)
            each.end()
        self._watch()


class Connection(socket.socket):
    """One accepted connection; it is ended when its request does not arrive or its response is not read in time."""

    is_admitted = True
    """False for a connection above the limit."""
    waiting_since: float | None = None
    """Since when the server has been waiting for the client; None while it is the server's turn."""
    _owner: Connections | None = None
    _patience: float | None = None
    _blocked_since: float | None = None

    def __init__(self, accepted: socket.socket, peer: tuple[str, int], owner: Connections) -> None:
        super().__init__(accepted.family, accepted.type, accepted.proto, accepted.detach())
        self.peer, self._owner = peer, owner

    def send(self, data: Any, *flags: int) -> int:
        """Send like a socket, and note what the client takes."""
        return self._note(lambda: super(Connection, self).send(data, *flags), len(data))

    def sendmsg(self, buffers: Any, *rest: Any) -> int:
        """Send like a socket, and note what the client takes; asyncio uses it since Python 3.12."""
        buffers = list(buffers)
        return self._note(lambda: super(Connection, self).sendmsg(buffers, *rest), sum(map(len, buffers)))

    def close(self) -> None:
        """Close like a socket, and forget the connection."""
        if self._owner is not None:
            self._owner.remove(self)
        super().close()

    def end(self) -> None:
        """End the connection from outside: asyncio reads its end, or fails to write, and closes it."""
        with suppress(OSError):
            if self._blocked_since is not None:
                self.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
            self.shutdown(socket.SHUT_RDWR)

    def wait_for_client(self, seconds: float | None = None) -> None:
        """Note that it is the client's turn; with `seconds`, its next head must have arrived by then."""
        self.waiting_since, self._patience = time.monotonic(), seconds

    def begin_response(self) -> None:
        """Note that the request is complete, and that it is the server's turn."""
        self.waiting_since = None

    def is_overdue(self, now: float) -> bool:
        """Return True if the client has not read, or not sent the head of a request, for too long."""
        if self._blocked_since is not None and self._owner is not None:
            return now - self._blocked_since > self._owner.limits.send_seconds
        if self.waiting_since is None or self._patience is None:
            return False
        return now - self.waiting_since > self._patience

    def _note(self, send: Callable[[], int], size: int) -> int:
        now = time.monotonic()
        try:
            sent = send()
        except BlockingIOError:
            self._blocked_since = self._blocked_since or now
            raise
        self._blocked_since = now if sent < size else None
        if self.waiting_since is not None:
            self.waiting_since = now  # the rest of the last response was on its way until now
        return sent


class Listener(socket.socket):
    """Replaces a listening socket; the connections that it accepts are known to `Connections`."""

    def __init__(self, listening: socket.socket, connections: Connections) -> None:
        super().__init__(listening.family, listening.type, listening.proto, listening.detach())
        self._connections = connections

    def accept(self) -> tuple[socket.socket, Any]:
        """Return the next connection; raise, as if its client had left, if there is no room for it."""
        accepted, address = super().accept()
        connection = Connection(accepted, (str(address[0]), int(address[1])), self._connections)
        if not self._connections.add(connection):
            connection.close()
            raise ConnectionAbortedError
        return connection, address
