"""Running the application with uvicorn: its socket, its start, and an end that loses no request."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Iterable, MutableMapping
from dataclasses import dataclass
from types import FrameType

from uvicorn import Config, Server

from mathamr.core.errors import MathAMRError
from mathamr.serve.access import is_loopback
from mathamr.serve.connections import Listener
from mathamr.serve.limits import Limits
from mathamr.serve.middleware import Middleware

ACCEPTED_SECONDS = 0.05
"""How long asyncio needs to hand over connections that it has accepted."""
ACCEPTED_AT_ONCE = 32
"""Connections that are accepted before requests are read again: with fewer, a health check would wait behind hundreds of
clients that connected before. Each needs a file descriptor before one that makes room for it is closed."""
BACKLOG = 1024
"""Connections that the operating system keeps until they are accepted."""
_INHERITED = 3
"""The first file descriptor after the standard streams, where systemd puts a socket."""


@dataclass(frozen=True)
class StoppingTimes:
    """How many seconds a stopping server waits for its clients."""

    responses: int = 5
    """For responses that have begun."""
    first_request: float = 1.0
    """For the first request of a client that has already connected."""


class DrainingServer(Server):
    """Calls `started` when it answers. When it is told to stop, it first reports for `drain` seconds that it is not ready."""

    def __init__(
        self,
        config: Config,
        app: Middleware,
        started: Callable[[], None],
        drain: float = 0.0,
        stopping: Iterable[Callable[[], None]] = (),
        first_request: float = StoppingTimes.first_request,
    ) -> None:
        super().__init__(config)
        self._app, self._on_started = app, started
        self._drain, self._on_stopping, self._first_request = drain, stopping, first_request
        self._loop: asyncio.AbstractEventLoop | None = None
        self._listeners: list[Listener] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        self._loop = asyncio.get_running_loop()
        await self._app.warm()
        self._listeners = [Listener(each, self._app.limiting.connections) for each in sockets or ()]
        await super().startup([*self._listeners])
        for each in self._listeners:
            each.listen(BACKLOG)
        self._on_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no more connections, and answer clients that have connected before the server closes the others."""
        loop = asyncio.get_running_loop()
        for each in self._listeners:
            loop.remove_reader(each.fileno())
        await asyncio.sleep(ACCEPTED_SECONDS)
        deadline = loop.time() + self._first_request
        while self._app.limiting.connections.has_unused and loop.time() < deadline and not self.force_exit:
            await asyncio.sleep(ACCEPTED_SECONDS)
        await super().shutdown([*(sockets or ()), *self._listeners])

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop after `drain` seconds; at once if it is told a second time."""
        again, self._app.limiting.is_stopping = self._app.limiting.is_stopping, True
        if again or not self._drain or self._loop is None:
            super().handle_exit(sig, frame)
            return
        for call in self._on_stopping:
            call()
        self._loop.call_soon_threadsafe(self._loop.call_later, self._drain, super().handle_exit, sig, frame)


def server(
    app: Middleware,
    limits: Limits,
    started: Callable[[], None],
    drain: float = 0.0,
    stopping: Iterable[Callable[[], None]] = (),
    times: StoppingTimes | None = None,
) -> DrainingServer:
    """Return a server for the application, not yet running; it calls what is in `stopping` when draining begins."""
    times = times or StoppingTimes()
    config = Config(
        app,
        http="h11",
        loop="asyncio",
        ws="none",
        lifespan="off",
        backlog=ACCEPTED_AT_ONCE,
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=max(1, round(limits.head_seconds)),
        timeout_graceful_shutdown=times.responses,
    )
    return DrainingServer(config, app, started, drain, stopping, times.first_request)


def bound_socket(host: str, port: int) -> socket.socket:
    """Return a socket at that address that does not listen yet, so that a taken port is reported before anything is loaded."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise MathAMRError(
            f"cannot listen on {host} port {port}: {reason}; choose another with --port"
        ) from error
    return listening


def inherited_socket(environment: MutableMapping[str, str] = os.environ) -> socket.socket | None:
    """Return the listening socket that systemd, or a program like it, opened for this process; None where there is none.

    That program keeps it open while servers come and go, so connections wait in it and none is refused. uvicorn's own
    option `fd` does not read systemd's variables and cannot be shared by forked workers.
    """
    pid, count = environment.pop("LISTEN_PID", ""), environment.pop("LISTEN_FDS", "")
    if pid != str(os.getpid()) or not count.isdecimal() or int(count) == 0:
        return None
    if int(count) > 1:
        raise MathAMRError(f"{count} sockets were passed; a server listens on one, so pass only one")
    try:
        given = socket.socket(fileno=_INHERITED)
        if given.type != socket.SOCK_STREAM or given.family not in (socket.AF_INET, socket.AF_INET6):
            raise MathAMRError("the socket that was passed is not a TCP socket; use ListenStream=PORT")
    except OSError as error:
        raise MathAMRError(f"the socket that was passed cannot be used: {error.strerror}") from error
    os.set_inheritable(given.fileno(), False)
    given.setblocking(
        False
    )  # this holds for every process that shares it: a blocking accept would stop the others
    return given


def address(host: str, port: int) -> str:
    """Return where a browser finds a server that listens there.

    >>> address("0.0.0.0", 8080), address("::1", 80)
    ('http://localhost:8080/', 'http://[::1]:80/')
    """
    name = "localhost" if host in ("0.0.0.0", "::", "") else f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/"


def exposure_warning(host: str, *, has_read_key: bool) -> str | None:
    """Return a warning for the person who starts a server that everybody can reach."""
    if is_loopback(host) or has_read_key:
        return None
    return "everybody who can reach this machine can search the index; set MATHAMR_READ_KEY to require a key"
