"""Running the application: uvicorn, with time limits for slow clients that it lacks."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable
from socket import socket
from typing import Any

from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from mathamr.serve.access import is_loopback
from mathamr.serve.gate import Gate
from mathamr.serve.limits import Limits

STOPPING_SECONDS = 5
AT_ONCE = 16
"""Connections taken in one go: each needs a file descriptor before the one that makes room for it is closed."""
WAITING = 1024
"""Connections that the operating system keeps until they are taken."""


def protocol(limits: Limits) -> type[H11Protocol]:
    """The protocol of one connection, under these limits."""

    class LimitedProtocol(H11Protocol):
        """Closes connections whose request does not arrive or whose answer is not taken, and those above the limit.

        Where there are too many, the one that has kept the server waiting longest goes, so that clients who only hold
        connections open cannot keep others out.
        """

        _since = 0.0
        """When the server began to wait for a request; 0 before the connection is one of those that count."""
        _deadline: asyncio.TimerHandle | None = None
        _taking: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            if len(self.connections) > limits.connections and not self._make_room():
                transport.close()
            else:
                self._since = self.loop.time()
                self._await_request()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self._is_answering:
                self._cancel()
            elif self._deadline is None:
                self._await_request()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._since = self.loop.time()
            self._cancel()

        def pause_writing(self) -> None:
            super().pause_writing()
            self._taking = self.loop.call_later(limits.send_seconds, self.transport.abort)

        def resume_writing(self) -> None:
            super().resume_writing()
            if self._taking is not None:
                self._taking.cancel()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self._cancel()
            if self._taking is not None:
                self._taking.cancel()

        def _make_room(self) -> bool:
            """Ends the connection whose request has been awaited longest; whether there was one."""
            idle = [each for each in self.connections if isinstance(each, LimitedProtocol) and each._is_idle]
            if not idle:
                return False
            longest = min(idle, key=lambda each: each._since)
            longest._since = 0.0
            longest.transport.abort()
            return True

        @property
        def _is_idle(self) -> bool:
            """Whether the server waits for the client: for a request, or for the rest of one."""
            return self._since > 0 and (not self._is_answering or bool(self.cycle and self.cycle.more_body))

        @property
        def _is_answering(self) -> bool:
            return self.cycle is not None and not self.cycle.response_complete

        def _await_request(self) -> None:
            self._deadline = self.loop.call_later(limits.head_seconds, self._give_up)

        def _give_up(self) -> None:
            self._deadline = None
            if not self._is_answering:
                self.transport.close()

        def _cancel(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

    return LimitedProtocol


class AnnouncingServer(Server):
    """A server that says when it answers."""

    def __init__(self, config: Config, app: Gate, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._gate, self._say_started = app, started

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Begins to listen."""
        await self._gate.warm()
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(WAITING)
        self._say_started()


def server(app: Gate, limits: Limits, started: Callable[[], None]) -> Server:
    """A server for the application, not yet running; `started` is called when it answers."""
    config = Config(
        app,
        http=protocol(limits),
        ws="none",
        lifespan="off",
        backlog=AT_ONCE,
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=max(1, round(limits.head_seconds)),
        timeout_graceful_shutdown=STOPPING_SECONDS,
    )
    return AnnouncingServer(config, app, started)


def set_up_log(quiet: bool) -> None:
    """The server's log on stderr: a line a request, unless `quiet`."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    for name in ("mathamr.serve", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(logging.WARNING if quiet or name != "mathamr.serve" else logging.INFO)


def address(host: str, port: int) -> str:
    """Where a browser finds a server that listens there.

    >>> address("0.0.0.0", 8080), address("::1", 80)
    ('http://localhost:8080/', 'http://[::1]:80/')
    """
    name = "localhost" if host in ("0.0.0.0", "::", "") else f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/"


def warning(host: str, has_read_key: bool) -> str | None:
    """What the person who starts the server should know about who can reach it."""
    if is_loopback(host) or has_read_key:
        return None
    return "everybody who can reach this machine can search the index; set MATHAMR_READ_KEY to ask for a key"
