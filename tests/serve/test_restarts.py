"""Sockets of servers: one that is handed over is taken, and nothing is lost when servers change behind it."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.serve.access import allowed_hosts
from mathamr.serve.limiting import Receive, Scope, Send
from mathamr.serve.limits import Limits
from mathamr.serve.metrics import Metrics
from mathamr.serve.middleware import Middleware
from mathamr.serve.server import DrainingServer, StoppingTimes, inherited_socket, server

HOST = "127.0.0.1"
PATIENCE = 120.0
TAKER = """
import os
os.environ["LISTEN_PID"] = str(os.getpid())
from mathamr.serve.server import inherited_socket
taken = inherited_socket()
print(taken.getsockname()[1], "LISTEN_FDS" in os.environ, os.get_inheritable(taken.fileno()), taken.dup().gettimeout())
"""


def test_a_socket_that_was_handed_over_is_taken_and_not_passed_on() -> None:
    with socket.create_server((HOST, 0)) as held:
        port = held.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-c", f"import os\nos.dup2({held.fileno()}, 3)\n{TAKER}"],
            env={**os.environ, "LISTEN_FDS": "1"},
            pass_fds=[held.fileno()],
            capture_output=True,
            text=True,
        )
    assert done.stdout.split() == [str(port), "False", "False", "0.0"], done.stderr


def test_sockets_of_another_process_or_too_many_are_not_taken() -> None:
    assert inherited_socket({}) is None
    assert inherited_socket({"LISTEN_PID": "1", "LISTEN_FDS": "1"}) is None
    with pytest.raises(MathAMRError, match="2 sockets were passed"):
        inherited_socket({"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "2"})


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@contextmanager
def held_socket() -> Iterator[socket.socket]:
    """A listening socket as a process has it to which it was handed over."""
    with socket.create_server((HOST, 0), backlog=1024) as held:
        held.setblocking(False)
        yield held


async def answering(scope: Scope, receive: Receive, send: Send) -> None:
    """An application that has an answer to everything."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"42"})


class Behind:
    """A server in a thread behind a socket that somebody else holds."""

    def __init__(self, held: socket.socket, drain: float = 0.0) -> None:
        started = threading.Event()
        # A stopping server gives clients seconds, which on a busy machine they do not get.
        times = StoppingTimes(responses=int(PATIENCE), first_request=PATIENCE)
        app = Middleware(answering, Limits(), Metrics(), allowed_hosts(HOST))
        made = server(app, Limits(), started.set, drain, times=times)
        assert isinstance(made, DrainingServer)
        self.server, own = made, held.dup()
        self.thread = threading.Thread(target=made.run, args=([own],), daemon=True)
        self.thread.start()
        assert started.wait(PATIENCE)

    def stop(self) -> None:
        self.server.handle_exit(signal.SIGTERM, None)
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()


def asked(port: int, path: str) -> tuple[int, str | None]:
    with closing(http.client.HTTPConnection(HOST, port, timeout=PATIENCE)) as client:
        client.request("GET", path)
        answer = client.getresponse()
        answer.read()
        return answer.status, answer.getheader("Connection")


def test_no_request_is_lost_while_one_server_takes_the_place_of_another() -> None:
    with held_socket() as held:
        port, statuses, ends = held.getsockname()[1], list[int](), threading.Event()

        def ask() -> None:
            while not ends.is_set():
                statuses.append(asked(port, "/v1/health")[0])

        first = Behind(held)
        clients = [threading.Thread(target=ask) for _ in range(4)]
        for client in clients:
            client.start()
        for _ in range(3):
            second, before = Behind(held), len(statuses)
            until(lambda: len(statuses) > before + 5)  # noqa: B023
            first.stop()
            first = second
        first.stop()  # for a while there is none: clients wait in the socket
        time.sleep(0.2)
        last = Behind(held)
        ends.set()
        for client in clients:
            client.join(PATIENCE)
        last.stop()
    assert set(statuses) == {200}


def test_a_client_that_connected_before_the_end_is_answered_when_its_request_comes() -> None:
    with held_socket() as held:
        running = Behind(held)
        with socket.create_connection(held.getsockname()) as client:
            until(lambda: bool(running.server.server_state.connections))
            stopping = threading.Thread(target=running.stop)
            stopping.start()
            time.sleep(0.3)
            client.sendall(b"GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert client.recv(1000).startswith(b"HTTP/1.1 200")
        stopping.join(PATIENCE)


def test_a_server_that_was_told_to_stop_is_not_ready_and_answers_until_then() -> None:
    with held_socket() as held:
        port = held.getsockname()[1]
        running = Behind(held, drain=PATIENCE)
        assert asked(port, "/v1/ready") == (200, None)
        running.server.handle_exit(signal.SIGTERM, None)
        assert asked(port, "/v1/ready")[0] == 503
        assert asked(port, "/v1/search?q=prime&strategy=lexical") == (200, "close")
        running.stop()  # told again, it ends at once
