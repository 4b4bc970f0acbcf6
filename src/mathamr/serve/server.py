"""Runs the application with uvicorn and adds the time limits for slow clients that uvicorn lacks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from socket import socket
from types import FrameType
from typing import Any

from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from mathamr.serve.access import is_loopback
from mathamr.serve.limits import Limits
from mathamr.serve.middleware import Middleware

STOPPING_SECONDS = 5
FIRST_REQUEST_SECONDS = 1.0
"""Seconds that a stopping server waits for the first request of a client that is already connected."""
SETTLING_SECONDS = 0.05
AT_ONCE = 1
"""Connections accepted at once. One at a time, since each needs a file descriptor before another connection is closed to make
room, and another process may be free for the next."""
WAITING = 1024
"""Connections that the operating system queues until they are accepted."""


def protocol(
    limits: Limits, gate: Middleware, counted: Callable[[int], None] = lambda count: None
) -> type[H11Protocol]:
    """The protocol class for connections to the application under these limits; `counted` is called with their number."""

    class LimitedProtocol(H11Protocol):
        """Closes connections whose request does not arrive or whose answer is not read, and those above the limit.

        If there are too many, it closes the one that has been idle longest, so that clients who only hold connections
        open cannot keep others out.
        """

        _since = 0.0
        """When the server began to wait for a request; 0 if the connection was not admitted or is being closed."""
        _deadline: asyncio.TimerHandle | None = None
        _taking: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            counted(len(self.connections))
            if len(self.connections) > limits.connections and not self._make_room():
                transport.close()
            else:
                self._since = self.loop.time()
                self._await_request()
                if gate.leaving:
                    self.shutdown()

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
            counted(len(self.connections))
            self._cancel()
            if self._taking is not None:
                self._taking.cancel()

        def shutdown(self) -> None:
            """Closes the connection when the server stops, but still answers a first request that is on its way."""
            if self._is_new and self._since > 0:
                self.loop.call_later(FIRST_REQUEST_SECONDS, self._close_unused)
            else:
                super().shutdown()

        def _close_unused(self) -> None:
            if self._is_new and not self.transport.is_closing():
                super().shutdown()

        def _make_room(self) -> bool:
            """Closes the connection that has been idle longest; returns False if none is idle."""
            idle = [each for each in self.connections if isinstance(each, LimitedProtocol) and each._is_idle]
            if not idle:
                return False
            longest = min(idle, key=lambda each: each._since)
            longest._since = 0.0
            longest.transport.abort()
            return True

        @property
        def _is_idle(self) -> bool:
            """True if the server waits for the client to send a request or the rest of one."""
            return self._since > 0 and (not self._is_answering or bool(self.cycle and self.cycle.more_body))

        @property
        def _is_new(self) -> bool:
            """True if no request has arrived yet."""
            cycle: RequestResponseCycle | None = self.cycle
            return cycle is None

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
    """A server that reports when it is up and, when it is stopped, drains first: it answers but reports that it is not ready."""

    def __init__(
        self,
        config: Config,
        app: Middleware,
        started: Callable[[], None],
        drain: float = 0.0,
        stopping: Iterable[Callable[[], None]] = (),
    ) -> None:
        super().__init__(config)
        self._gate, self._say_started = app, started
        self._drain, self._stopping = drain, stopping
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Warms up the application and starts to listen."""
        self._loop = asyncio.get_running_loop()
        await self._gate.warm()
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(WAITING)
        self._say_started()

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """Accepts no more connections, and lets asyncio register those just accepted before the sockets are closed.

        Without the pause asyncio would drop them, and their clients would wait in vain.
        """
        loop = asyncio.get_running_loop()
        for each in self.servers:
            for listening in each.sockets:
                loop.remove_reader(listening.fileno())
        await asyncio.sleep(SETTLING_SECONDS)
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Handles a signal to stop: drains first, or stops at once if this is the second signal."""
        again, self._gate.leaving = self._gate.leaving, True
        if again or not self._drain or self._loop is None:
            super().handle_exit(sig, frame)
            return
        for notify in self._stopping:
            notify()
        self._loop.call_soon_threadsafe(self._loop.call_later, self._drain, super().handle_exit, sig, frame)


def server(
    app: Middleware,
    limits: Limits,
    started: Callable[[], None],
    drain: float = 0.0,
    stopping: Iterable[Callable[[], None]] = (),
    counted: Callable[[int], None] = lambda count: None,
) -> Server:
    """A server for the application, not yet running; `started` is called when it answers, `counted` with the number of its connections.

    When it is stopped, it calls the functions in `stopping` and drains for `drain` seconds.
    """
    config = Config(
        app,
        http=protocol(limits, app, counted),
        loop="asyncio",
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
    return AnnouncingServer(config, app, started, drain, stopping)


def address(host: str, port: int) -> str:
    """The address under which a browser reaches a server that listens on `host` and `port`.

    >>> address("0.0.0.0", 8080), address("::1", 80)
    ('http://localhost:8080/', 'http://[::1]:80/')
    """
    name = "localhost" if host in ("0.0.0.0", "::", "") else f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/"


def warning(host: str, has_read_key: bool) -> str | None:
    """A warning for the person who starts the server, if anybody in the network can search the index."""
    if is_loopback(host) or has_read_key:
        return None
    return "everybody who can reach this machine can search the index; set MATHAMR_READ_KEY to require a key"
