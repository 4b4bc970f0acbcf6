from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.core.workers import processors
from mathamr.serve.connections import YIELDS, ConnectionCounts, Connections, Listener
from mathamr.serve.limits import Limits
from mathamr.serve.server import bound_socket
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


def test_processes_answer_side_by_side_and_end_together(small_index: Path) -> None:
    process = subprocess.Popen(
        [*SERVE, str(small_index), "--port", "0", "-q", "--processes", "2", "--limit", "seconds=120"],
        stdout=subprocess.PIPE,
        env={**os.environ, "MATHAMR_API_KEY": ""},
        text=True,
    )
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    servers = [each for each in psutil.Process(process.pid).children() if "serve" in each.cmdline()]
    assert len(servers) == 1

    def both_listen() -> bool:
        port = int(address.rstrip("/").rpartition(":")[2])
        return (
            sum(
                1
                for each in (psutil.Process(process.pid), *servers)
                for held in each.net_connections("tcp")
                if held.status == psutil.CONN_LISTEN and held.laddr.port == port
            )
            == 2
        )

    try:
        assert within(120, both_listen)
        for number in range(12):  # each a connection of its own, which either of them may get
            urllib.request.urlopen(f"{address}v1/search?q=prime+{number}&strategy=lexical", timeout=60).read()
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert within(
            120, lambda: not any(each.is_running() and each.status() != "zombie" for each in servers)
        )
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def connected(to: socket.socket, count: int) -> list[socket.socket]:
    return [socket.create_connection(to.getsockname()) for _ in range(count)]


def test_a_worker_with_more_connections_leaves_the_next_to_another_but_not_for_ever() -> None:
    counts = ConnectionCounts(2)

    def set_other(count: int | None) -> None:
        counts.own = 1
        counts.leave() if count is None else counts.set(count)
        counts.own = 0

    async def accept() -> None:
        with Listener(bound_socket("127.0.0.1", 0), Connections(Limits(), counts)) as fair:
            fair.listen()
            clients = connected(fair, 5)
            taken = [fair.accept()[0] for _ in range(2)]  # the other is not there yet
            set_other(2)
            taken.append(fair.accept()[0])  # as many as the other is not more
            for _ in range(YIELDS):
                with pytest.raises(BlockingIOError):
                    fair.accept()
            taken.append(fair.accept()[0])
            set_other(None)
            taken.append(fair.accept()[0])  # there is nobody to leave it to
            for each in (*clients, *taken):
                each.close()

    asyncio.run(accept())
