from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.core.workers import processors
from mathamr.serve.server import SHARES_OUT, bound_socket, own_socket, shared_port
from mathamr.serve.workers import worker_count


def test_an_index_is_served_by_all_processors_unless_something_is_in_the_way() -> None:
    assert worker_count(None, writes=False) == min(8, processors())
    assert worker_count(3, writes=False) == 3
    assert worker_count(None, writes=True) == worker_count(1, writes=True) == 1
    with pytest.raises(MathAMRError, match="a server that takes writes is one process"):
        worker_count(2, writes=True)


SERVE = (sys.executable, "-m", "mathamr", "serve")


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


class Served:
    """`mathamr serve` of an index in two processes."""

    def __init__(self, index: Path, *more: str) -> None:
        self.process = subprocess.Popen(
            [*SERVE, str(index), "--port", "0", "-q", "--processes", "2", *more],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "MATHAMR_API_KEY": ""},
            text=True,
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()

    @property
    def workers(self) -> list[psutil.Process]:
        """The processes that serve, as far as they live."""
        return [each for each in psutil.Process(self.process.pid).children() if each.status() != "zombie"]

    def search(self, word: str) -> None:
        """Fail if a search on a connection of its own is not answered."""
        urllib.request.urlopen(f"{self.address}v1/search?q={word}&strategy=lexical", timeout=60).read()

    def connected(self) -> dict[int, int]:
        """The number of connections of each worker."""
        port = int(self.address.rstrip("/").rpartition(":")[2])
        return {
            each.pid: sum(
                held.status == psutil.CONN_ESTABLISHED and held.laddr.port == port
                for held in each.net_connections("tcp")
            )
            for each in self.workers
        }

    def listening(self) -> int:
        """The number of workers that accept connections."""
        return sum(
            any(held.status == psutil.CONN_LISTEN for held in each.net_connections("tcp"))
            for each in self.workers
        )

    def end(self) -> str:
        """Stop the server and return its log."""
        self.process.terminate()
        return self.process.communicate(timeout=60)[1]


@pytest.fixture
def served(small_index: Path) -> Iterator[Served]:
    found = Served(small_index, "--limit", "seconds=120")
    yield found
    found.process.kill()
    found.process.communicate()


def test_processes_answer_side_by_side_and_end_together(served: Served) -> None:
    workers = served.workers
    assert len(workers) == 2
    clients: list[socket.socket] = []

    def both_have_clients() -> bool:
        port = int(served.address.rstrip("/").rpartition(":")[2])
        clients.append(socket.create_connection(("127.0.0.1", port)))
        return all(served.connected().values())

    assert within(120, both_have_clients)
    for client in clients:
        client.close()
    for number in range(12):
        served.search(f"prime+{number}")
    served.process.send_signal(signal.SIGKILL)
    served.process.wait()
    assert within(120, lambda: not any(each.is_running() and each.status() != "zombie" for each in workers))


def test_a_worker_that_is_killed_is_replaced_while_the_others_answer(served: Served) -> None:
    first = served.workers
    assert len(first) == 2
    assert within(120, lambda: served.listening() == 2)
    for victim in first:
        victim.kill()
        # A zombie may have threads that still hold its socket.
        assert within(60, lambda victim=victim: not psutil.pid_exists(victim.pid))  # type: ignore[misc]
        for number in range(4):
            served.search(f"prime+{number}")
        assert within(120, lambda: served.listening() == 2)
    assert not set(first) & set(served.workers)
    served.search("prime")
    assert served.end().count("was ended by SIGKILL; another one takes its place") == 2


def test_a_server_whose_workers_cannot_start_ends_and_says_why(small_index: Path, tmp_path: Path) -> None:
    served = Served(small_index, "--beside", str(tmp_path / "nowhere"))
    error = served.process.communicate(timeout=120)[1]
    assert served.process.returncode == 1
    assert served.address == ""
    assert "nowhere does not exist" in error
    assert "could not start" in error


@pytest.mark.skipif(not SHARES_OUT, reason="this system shares no connections out")
def test_two_servers_that_start_at_the_same_time_do_not_share_a_port() -> None:
    with closing(bound_socket("127.0.0.1", 0)) as bound:
        port = bound.getsockname()[1]
        with shared_port(bound), closing(own_socket(bound)) as one, closing(own_socket(bound)) as other:
            with (
                closing(bound_socket("127.0.0.1", port)) as second,
                pytest.raises(MathAMRError, match="--port"),
            ):
                shared_port(second)
            one.listen()
            other.listen()
            with pytest.raises(MathAMRError, match="--port"):
                bound_socket("127.0.0.1", port)
        shared_port(bound).__exit__(None, None, None)
