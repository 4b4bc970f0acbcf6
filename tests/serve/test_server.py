"""The server on a real socket: slow and rude clients, and a process that is killed."""

from __future__ import annotations

import http.client
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.search.searcher import Index
from mathamr.serve.limits import Limits
from mathamr.serve.server import bound_socket
from tests.cases import cases
from tests.serve.conftest import WRITE_KEY
from tests.serve.site import HOST, serving

SERVE = (sys.executable, "-m", "mathamr", "serve")
PATIENCE = 120
"""Seconds after which a test gives up; nothing here takes as long unless it hangs."""


@contextmanager
def running(index: Index, limits: Limits) -> Iterator[int]:
    """A server in a thread; its port."""
    with serving(index, limits=limits) as site:
        yield site.port


@pytest.fixture(scope="module")
def port(index: Index) -> Iterator[int]:
    """A server that is impatient with slow clients."""
    limits = Limits(head_seconds=0.3, body_seconds=0.3, body_bytes=1000, connections=40)
    with running(index, limits) as listening:
        yield listening


def connected(port: int) -> socket.socket:
    return socket.create_connection((HOST, port), timeout=PATIENCE)


def received(connection: socket.socket) -> bytes:
    """All that comes until the server closes the connection."""
    parts = []
    try:
        while part := connection.recv(1 << 16):
            parts.append(part)
    except ConnectionResetError:
        pass  # it was closed while we were still sending
    return b"".join(parts)


def answered(port: int, sent: bytes) -> bytes:
    """What a request is answered with.

    The server is impatient, and on a busy machine we may be the slow client ourselves, whom it lets go without a word:
    then we ask again.
    """
    for _ in range(20):
        with connected(port) as connection:
            with suppress(ConnectionError):
                connection.sendall(sent)
            if answer := received(connection):
                return answer
    return b""


def healthy(port: int) -> bool:
    asked = b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    return answered(port, asked).startswith(b"HTTP/1.1 200 ")


def test_a_client_that_never_ends_its_head_is_let_go(port: int) -> None:
    with connected(port) as connection:
        connection.sendall(b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        assert received(connection) == b""
    assert healthy(port)


def test_a_client_that_says_nothing_is_let_go(port: int) -> None:
    with connected(port) as connection:
        assert received(connection) == b""


def test_a_client_that_stops_within_its_second_request_is_let_go(port: int) -> None:
    answer = answered(port, b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /v1/he")
    assert answer.count(b"HTTP/1.1 200") == 1


def test_a_client_that_never_ends_its_body_is_told_and_let_go(port: int) -> None:
    answer = answered(
        port,
        b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
    )
    assert b" 408 " in answer.split(b"\r\n")[0]
    assert b'"slow_client"' in answer


def test_an_endless_body_in_chunks_is_cut_off(index: Index) -> None:
    chunk = b"3e8\r\n" + b"x" * 1000 + b"\r\n"
    # A patient server: one that is not would be tired of a slow machine before the second chunk is one too many.
    with running(index, Limits(head_seconds=PATIENCE, body_seconds=PATIENCE, body_bytes=1000)) as port:
        answer = answered(
            port,
            b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
            + 2 * chunk,
        )
        assert b" 413 " in answer.split(b"\r\n")[0]
        assert healthy(port)


def test_a_connection_with_two_lengths_is_closed_after_its_answer(port: int) -> None:
    """A proxy may take what follows for another request than we do (RFC 9112, 6.1)."""
    body = b'{"latex": "x"}'
    head = b"POST /v1/render HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    sent = head + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked
    got = answered(port, sent + b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert got.count(b"HTTP/1.1 ") == 1
    assert b"connection: close" in got.lower()


@cases(
    "sent",
    [b"\0\1\2\3\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc" * 20,
     b"GET / HTTP/1.1\r\nHost: localhost\r\nA b: c\r\n\r\n",
     b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 200_000 + b"\r\n\r\n",
     b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
     b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
     b"GET /%ff%fe%00?q=%ff%c0%80 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
     b"GET /v1/search?q=\xff\xfe HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
     b"GET http://evil.example/v1/health HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
     b"CONNECT evil.example:80 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
     b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"],
)  # fmt: skip
def test_what_is_no_request_harms_nobody(port: int, sent: bytes) -> None:
    with connected(port) as connection:
        with suppress(ConnectionError):
            connection.sendall(sent)
        head, _, body = received(connection).partition(b"\r\n\r\n")
    assert b" 500 " not in head[:40]
    assert b"Traceback" not in body
    if head.startswith(b"HTTP/1.1 400 ") and b"text/plain" in head:  # uvicorn's own answer
        assert b"connection: close" in head.lower()
    assert healthy(port)


@cases("path", ["/../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fapp.py", "/v1/posts/..%2f..", "//etc/passwd"])  # fmt: skip
def test_no_path_leads_out_of_the_page(port: int, path: str) -> None:
    answer = answered(port, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    assert b" 404 " in answer.split(b"\r\n")[0]
    assert b"root:" not in answer


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET /v1/he", b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{"],
)
def test_clients_that_keep_the_server_waiting_lock_nobody_out(index: Index, sent: bytes) -> None:
    with running(index, Limits(connections=5, head_seconds=PATIENCE, body_seconds=PATIENCE)) as port:
        idle = [connected(port) for _ in range(5)]
        for connection in idle:
            connection.sendall(sent)
        for _ in range(12):
            assert healthy(port)
        gone = idle[0]
        gone.settimeout(PATIENCE)
        with suppress(ConnectionResetError):
            assert gone.recv(1) == b""
        for connection in idle:
            connection.close()


def test_connections_above_the_limit_are_closed_where_all_others_are_answered(index: Index) -> None:
    with running(index, Limits(connections=1, send_seconds=PATIENCE)) as port, connected(port) as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        taken.sendall(b"GET /v1/commands HTTP/1.1\r\nHost: localhost\r\n\r\n" * 200)
        assert taken.recv(1)
        with connected(port) as second:
            assert received(second) == b""


@pytest.mark.slow
def test_a_client_that_does_not_read_is_let_go(index: Index) -> None:
    with running(index, Limits(send_seconds=0.3)) as port, connected(port) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        request = b"GET /v1/commands HTTP/1.1\r\nHost: localhost\r\n\r\n"
        gone = threading.Event()

        def ask_on() -> None:
            try:
                while True:
                    connection.sendall(request)
            except OSError:
                gone.set()

        threading.Thread(target=ask_on, daemon=True).start()
        assert gone.wait(PATIENCE)
        assert healthy(port)


def test_a_port_that_is_taken_is_told() -> None:
    with closing(bound_socket(HOST, 0)) as taken:
        taken.listen()
        with pytest.raises(MathAMRError, match=r"cannot listen on 127\.0\.0\.1 port"):
            bound_socket(HOST, taken.getsockname()[1])
    with pytest.raises(MathAMRError, match="cannot listen on"):
        bound_socket("no such host.invalid", 1)


class Process:
    """`mathamr serve` as a process of its own."""

    def __init__(self, folder: Path, files: int | None = None, megabytes: int | None = None) -> None:
        """`files` is how many the operating system lets it have open, `megabytes` its address space."""

        def limit() -> None:
            if files is not None:
                resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
            if megabytes is not None:
                resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

        self.process = subprocess.Popen(
            [*SERVE, str(folder), "--port", "0", "--device", "cpu", "--limit", f"seconds={PATIENCE}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "MATHAMR_API_KEY": WRITE_KEY},
            text=True,
            preexec_fn=limit,
        )
        assert self.process.stdout is not None
        where = self.process.stdout.readline()
        assert where.startswith("http://127.0.0.1:"), self.process.communicate()[1]
        self.port = int(where.strip().rstrip("/").rpartition(":")[2])

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, dict[str, object]]:
        connection = http.client.HTTPConnection(HOST, self.port, timeout=PATIENCE)
        sent = None if body is None else json.dumps(body)
        connection.request(method, path, sent, {"X-API-Key": WRITE_KEY, "Content-Type": "application/json"})
        answer = connection.getresponse()
        got = answer.read()
        return answer.status, json.loads(got)

    def stop(self, how: signal.Signals) -> tuple[int, str]:
        self.process.send_signal(how)
        _, log = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, log


@pytest.mark.slow
def test_a_killed_server_with_few_files_and_many_idle_clients_keeps_every_write_it_acknowledged(
    index_folder: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "index"
    shutil.copytree(index_folder, folder)
    with Index.open(folder, device="cpu") as opened:
        victim = next(iter(opened.archive.catalogue.ids()))
    first = Process(folder, files=256)
    idle = [connected(first.port) for _ in range(300)]
    acknowledged: list[str] = []
    assert first.ask("DELETE", f"/v1/posts/{quote(victim, safe='')}")[0] == 200

    def write() -> None:
        try:
            for number in range(1000):
                status, _ = first.ask(
                    "PUT", f"/v1/posts/kept%2F{number}", {"body": f"Icosahedron {number}, $i_{{{number}}}$."}
                )
                assert status == 201
                acknowledged.append(f"kept/{number}")
                if number == 4:
                    enough.set()
        except (OSError, http.client.HTTPException):
            pass  # the server was killed while it answered

    enough = threading.Event()
    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    assert enough.wait(PATIENCE)
    assert first.ask("GET", "/v1/search?q=icosahedron")[0] == 200
    for connection in idle:
        connection.close()
    assert first.stop(signal.SIGKILL)[0] == -signal.SIGKILL
    writer.join(PATIENCE)
    second = Process(folder)
    for id in acknowledged:
        assert second.ask("GET", f"/v1/posts/{quote(id, safe='')}")[0] == 200
    assert second.ask("GET", f"/v1/posts/{quote(victim, safe='')}")[0] == 404
    _, found = second.ask("GET", "/v1/search?q=icosahedron&strategy=lexical&k=100")
    hits = [hit["id"] for hit in found["hits"]]  # type: ignore[attr-defined]
    assert set(acknowledged) <= set(hits)
    assert len(hits) == len(set(hits))
    code, log = second.stop(signal.SIGTERM)
    assert code == 0, log
    assert "icosahedron" not in log.lower()
    assert " GET /v1/search 200 " in log


@pytest.mark.slow
def test_vectors_that_are_cut_short_under_a_server_end_it_with_a_report(
    index_folder: Path, tmp_path: Path
) -> None:
    """The operating system ends a process that reads behind the end of a mapped file; the log must say so."""
    folder = tmp_path / "index"
    shutil.copytree(index_folder, folder)
    process = Process(folder)
    for path in (folder / "vectors").rglob("*"):
        if path.is_file() and path.suffix != ".json":
            os.truncate(path, 0)
    with suppress(OSError, http.client.HTTPException):
        for _ in range(20):
            process.ask("GET", "/v1/search?q=prime+number&strategy=maxsim&exact=true")
    code, log = process.stop(signal.SIGTERM)
    assert code == -signal.SIGBUS, log
    assert "Bus error" in log
    assert "mathamr/index/engines" in log, "the report says what was read"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the address space")
def test_a_server_with_512_megabytes_of_address_space_answers(tmp_path: Path) -> None:
    """With the default model; threads reserved so much of it that every request was answered with 500."""
    (tmp_path / "basel.md").write_text("# Basel\n\nWhy does $\\sum 1/n^2$ converge?\n")
    build_index([tmp_path / "basel.md"], tmp_path / "index", BuildOptions(device="cpu"))
    process = Process(tmp_path / "index", megabytes=512)
    try:
        for path in (
            "search?q=converge",
            "search?task=formulas&q=$1/n^2$",
            "posts/basel.md",
            "index",
        ):
            assert process.ask("GET", f"/v1/{path}")[0] == 200, path
        assert process.ask("PUT", "/v1/posts/new", {"body": "A quagga, $q^2$."})[0] == 201
    finally:
        process.stop(signal.SIGTERM)
