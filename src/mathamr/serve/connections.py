"""`ClientConnections`: the open connections of a server, with the time limits and the fair limit on their number that uvicorn lacks.

uvicorn's `limit_concurrency` counts idle connections too, so that clients who only hold connections open would lock
everybody out, and it has no time limit for a request's head or for a client that stops reading. Only methods of
`asyncio.Protocol` and `send_400_response` are overridden here; what a connection is doing is reported by the middleware.
"""

from __future__ import annotations

import asyncio
import resource
import secrets
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from mathamr.serve.errors import ApiError
from mathamr.serve.limits import Limits

OWN_FILES = 160
"""Files, pipes and databases that an index, its threads and its parser may have open at a time."""
RESERVE = 16
"""Connections above the limit, on which only health checks are answered and everything else is refused with 429."""
_FEWEST = 8


def fitting(limits: Limits) -> Limits:
    """Lowers the limit on connections to the file descriptors that the system grants beside the index's own.

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
    return replace(limits, connections=max(_FEWEST, soft - OWN_FILES))


class ClientConnections:
    """The connections of one process, by the address of their client; only used on the event loop."""

    def __init__(self, limits: Limits, headers: Mapping[str, str]) -> None:
        self.limits, self._headers = limits, headers
        self._open: dict[tuple[str, int], ClientConnection] = {}
        self.on_change: Callable[[int], None] = lambda count: None
        """Called with the number of open connections."""

    def __len__(self) -> int:
        return len(self._open)

    @property
    def has_unused(self) -> bool:
        """True while a client has connected and not yet sent a whole head of a request."""
        return any(each.is_new for each in self._open.values())

    def of(self, scope: Mapping[str, Any]) -> ClientConnection | None:
        """The connection of a request; None where there is no socket behind it."""
        client = scope.get("client")
        return self._open.get((client[0], client[1])) if client else None

    def protocol(self) -> type[H11Protocol]:
        """The protocol class for uvicorn's option `http`."""
        connections = self

        class LimitedConnection(ClientConnection):
            owner = connections

        return LimitedConnection

    def add(self, connection: ClientConnection) -> None:
        """Registers a connection, and closes another one where there are too many."""
        if len(self._open) >= self.limits.connections:
            victim = self._victim(connection.host)
            if victim is not None:
                self.remove(victim)
                victim.abort()
        admitted = sum(each.is_admitted for each in self._open.values())
        connection.is_admitted = admitted < self.limits.connections
        if not connection.is_admitted and len(self._open) >= self.limits.connections + RESERVE:
            connection.abort()
            return
        self._open[connection.peer] = connection
        self.on_change(len(self._open))
        connection.wait_for_client(self.limits.head_seconds)

    def remove(self, connection: ClientConnection) -> None:
        """Forgets a connection; one that is not registered is ignored."""
        if self._open.get(connection.peer) is connection:
            del self._open[connection.peer]
            self.on_change(len(self._open))

    def bad_request(self) -> bytes:
        """The response to bytes that are not HTTP, in the shape of every error."""
        request = secrets.token_hex(8)
        body = ApiError("bad_request", "this is not a request of HTTP/1.1 that can be read").body(request)
        headers = {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "Connection": "close",
            "Cache-Control": "no-store",
            "X-Request-Id": request,
            **self._headers,
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        return f"HTTP/1.1 400 Bad Request\r\n{head}\r\n".encode() + body

    def _victim(self, host: str) -> ClientConnection | None:
        """The connection to close for a new one: the one that has kept the server waiting longest.

        If the server waits for none, one of the client with most connections, if that client has more than `host`.
        """
        waiting = [each for each in self._open.values() if each.waiting_since is not None]
        if waiting:
            return min(waiting, key=lambda each: each.waiting_since or 0.0)
        counts = Counter(each.host for each in self._open.values())
        most, count = counts.most_common(1)[0]
        if count <= counts[host] + 1:
            return None
        return next(each for each in reversed(self._open.values()) if each.host == most)


class ClientConnection(H11Protocol):
    """One connection; it is closed when its request does not arrive or its response is not read in time."""

    owner: ClientConnections
    peer: tuple[str, int] = ("", 0)
    is_admitted = True
    """False for a connection above the limit."""
    is_new = True
    """True until the first request."""
    waiting_since: float | None = None
    """Since when the server has been waiting for the client; None while it is the server's turn."""
    _arrival: asyncio.TimerHandle | None = None
    _sending: asyncio.TimerHandle | None = None
    _socket: asyncio.Transport

    @property
    def host(self) -> str:
        """The address of the client."""
        return self.peer[0]

    def connection_made(self, transport: Any) -> None:
        """Part of `asyncio.Protocol`."""
        super().connection_made(transport)
        self._socket = transport
        self.peer = tuple(transport.get_extra_info("peername")[:2])
        self.owner.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Part of `asyncio.Protocol`."""
        super().connection_lost(exc)
        self.owner.remove(self)
        self.begin_response()
        self._stop_sending_timer()

    def pause_writing(self) -> None:
        """Part of `asyncio.Protocol`."""
        super().pause_writing()
        self._sending = asyncio.get_running_loop().call_later(self.owner.limits.send_seconds, self.abort)

    def resume_writing(self) -> None:
        """Part of `asyncio.Protocol`."""
        super().resume_writing()
        self._stop_sending_timer()

    def send_400_response(self, msg: str) -> None:
        """Answers what cannot be parsed; uvicorn would answer with plain text."""
        self._socket.write(self.owner.bad_request())
        self._socket.close()

    def abort(self) -> None:
        """Closes the connection without sending what is left."""
        self._socket.abort()

    def wait_for_client(self, seconds: float | None = None) -> None:
        """It is the client's turn; with `seconds`, its next head must have arrived by then."""
        loop = asyncio.get_running_loop()
        self.waiting_since = loop.time()
        if seconds is not None:
            self._arrival = loop.call_later(seconds, self._socket.close)

    def head_arrived(self) -> None:
        """A request has begun; its body may still be on its way."""
        self.is_new = False
        if self._arrival is not None:
            self._arrival.cancel()
            self._arrival = None

    def begin_response(self) -> None:
        """The request is complete, and it is the server's turn."""
        self.head_arrived()
        self.waiting_since = None

    def _stop_sending_timer(self) -> None:
        if self._sending is not None:
            self._sending.cancel()
            self._sending = None
