"""Running the application with uvicorn: its socket, its start and its end."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext

from uvicorn import Config, Server

from mathamr.core.errors import MathAMRError
from mathamr.serve.access import is_loopback
from mathamr.serve.connections import Listener
from mathamr.serve.limits import Limits
from mathamr.serve.middleware import Middleware

ACCEPTED_AT_ONCE = 32
"""Connections that are accepted before requests are read again: with fewer, a health check would wait behind hundreds of
clients that connected before. Each needs a file descriptor before one that makes room for it is closed."""
STOPPING_SECONDS = 5
"""How long a stopping server waits for responses that have begun."""
SHARES_OUT = sys.platform == "linux"
"""True if the system shares connections out among sockets with `SO_REUSEPORT`; others give all to one of them."""
BACKLOG = 1024
"""Connections that the operating system keeps until they are accepted."""


class StartedServer(Server):
    """A uvicorn server that calls `started` once it answers."""

    def __init__(self, config: Config, app: Middleware, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._app, self._on_started = app, started
        self._listeners: list[Listener] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await self._app.warm()
        self._listeners = [Listener(each, self._app.limiting.connections) for each in sockets or ()]
        await super().startup([*self._listeners])
        for each in self._listeners:
            each.listen(BACKLOG)
        self._on_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no more connections, and finish the responses that have begun."""
        await super().shutdown([*(sockets or ()), *self._listeners])


def server(app: Middleware, limits: Limits, started: Callable[[], None]) -> StartedServer:
    """Return a server for the application, not yet running."""
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
        timeout_graceful_shutdown=STOPPING_SECONDS,
    )
    return StartedServer(config, app, started)


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


def shared_port(bound: socket.socket) -> AbstractContextManager[object]:
    """Reserve the port of a bound socket for the processes of this server: `SO_REUSEPORT` would let another server in unnoticed.

    Where the system shares no connections out, nothing is reserved: the second server cannot listen there.
    """
    if not SHARES_OUT:
        return nullcontext()
    reservation = socket.socket(socket.AF_UNIX)
    try:
        # An abstract name: it lies in no folder, and is gone with the process.
        reservation.bind(f"\0mathamr serve {bound.getsockname()}")
    except OSError as error:
        reservation.close()
        host, port = bound.getsockname()[:2]
        raise MathAMRError(
            f"cannot listen on {host} port {port}: another server is starting there; choose another with --port"
        ) from error
    return closing(reservation)


def own_socket(bound: socket.socket) -> socket.socket:
    """Return a socket of this process's own at the same address: Linux shares connections out among those that listen.

    Other systems do not, so that the processes take connections from the one socket.
    """
    if not SHARES_OUT:
        return bound
    own = socket.socket(bound.family, bound.type, bound.proto)
    own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    own.bind(bound.getsockname())
    return own


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
