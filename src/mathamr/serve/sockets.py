"""The socket of a server: bound here, or passed by the program that started it."""

from __future__ import annotations

import os
import socket
from collections.abc import MutableMapping

from mathamr.core.errors import MathAMRError

FIRST_HANDED = 3
"""The first file descriptor after the three standard ones, where systemd passes sockets."""


def bound(host: str, port: int) -> socket.socket:
    """Binds a socket without listening, so that a port in use is reported before anything is loaded."""
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


def handed_over(environment: MutableMapping[str, str] = os.environ) -> socket.socket | None:
    """The listening socket that systemd, or a similar program, opened for this process; None if there is none.

    That program keeps the socket open while servers restart: connections wait in it, and none is refused.
    """
    pid, count = environment.pop("LISTEN_PID", ""), environment.pop("LISTEN_FDS", "")
    if pid != str(os.getpid()) or not count.isdecimal() or int(count) == 0:
        return None
    if int(count) > 1:
        raise MathAMRError(
            f"{count} sockets were handed over, and a server listens on one: leave the others out"
        )
    try:
        passed = socket.socket(fileno=FIRST_HANDED)
        if passed.type != socket.SOCK_STREAM or passed.family not in (socket.AF_INET, socket.AF_INET6):
            raise MathAMRError("the socket that was handed over is not one of TCP: ask for ListenStream=PORT")
    except OSError as error:
        raise MathAMRError(f"the socket that was handed over cannot be used: {error.strerror}") from error
    os.set_inheritable(passed.fileno(), False)
    # This applies to all processes that share the socket: a blocking accept would stall the others.
    passed.setblocking(False)
    return passed
