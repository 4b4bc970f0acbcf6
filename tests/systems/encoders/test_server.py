from __future__ import annotations

import gzip
import json
import socket
import threading
import time
import tracemalloc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.systems.encoders.server import MOST_NUMBERS, ServerEncoder
from tests.systems.encoders.examples import SIZE, EmbeddingsServer, embed, embeddings_server


@pytest.fixture
def server() -> Iterator[EmbeddingsServer]:
    with embeddings_server() as found:
        yield found


def test_vectors_come_in_the_order_of_the_texts_and_have_length_one(server: EmbeddingsServer) -> None:
    encoder = ServerEncoder(f"{server.address}/v1#small")
    texts = [f"number {number} of many" for number in range(70)]
    rows = encoder.encode(texts, are_queries=False)
    wanted = np.array([embed(text) for text in texts])
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    assert np.allclose(np.concatenate(rows), wanted, atol=1e-6)
    assert encoder.size == SIZE
    assert {row["path"] for row in server.asked} == {"/v1/embeddings"}
    assert {row["model"] for row in server.asked} == {"small"}
    assert max(len(row["input"]) for row in server.asked) == 32


@pytest.mark.parametrize(
    "answer",
    [
        b"hello",
        b"{}",
        b'{"data": 5}',
        json.dumps({"data": [{"index": 0, "embedding": [0.0] * SIZE}]}).encode(),
        b'{"data": [{"index": 0, "embedding": [NaN]}]}',
        json.dumps({"data": [{"index": 0, "embedding": [1.0, 2.0]}]}).encode(),
        b"[" * 10_000,
    ],
)
def test_an_answer_that_is_none_gives_a_clear_error(server: EmbeddingsServer, answer: bytes) -> None:
    encoder = ServerEncoder(server.address)
    server.answer = answer
    with pytest.raises(MathAMRError, match="did not answer as a server of embeddings does"):
        encoder.encode(["text"], are_queries=True)


def answer_of(*vectors: object, **fields: object) -> bytes:
    rows = [{"index": at, "embedding": vector, **fields} for at, vector in enumerate(vectors)]
    return json.dumps({"data": rows}).encode()


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (answer_of([1.0] * SIZE, index=7), "for 1 texts"),
        (answer_of([1.0] * SIZE, index=-1), "data.0.index"),
        (answer_of([1.0] * SIZE, index="0"), "data.0.index"),
        (answer_of([1.0] * SIZE, index=True), "data.0.index"),
        (answer_of([1.0] * SIZE, index=1e300), "data.0.index"),
        (answer_of([1.0] * SIZE).replace(b'"index": 0', b'"index": 1e999'), "data.0.index"),
        (answer_of([1.0] * SIZE).replace(b'"index": 0', b'"index": ' + b"9" * 400), "data.0.index"),
        (answer_of([1.0] * SIZE).replace(b"1.0", b"1e999"), "data.0.embedding"),
        (answer_of([1.0] * SIZE).replace(b"1.0", b"9" * 400), "data.0.embedding"),
        (answer_of([1.0] * SIZE).replace(b"1.0", b'"1.0"'), "data.0.embedding"),
        (answer_of([1.0] * SIZE).replace(b"1.0", b"null"), "data.0.embedding"),
        (answer_of([1.0] * SIZE).replace(b"1.0", b"-Infinity"), "data.0.embedding"),
        (answer_of([]), "data.0.embedding"),
        (answer_of([1.0] * SIZE, [1.0] * SIZE), "2 vectors for 1 texts"),
        (answer_of("abcd"), "data.0.embedding"),
        (answer_of([[1.0] * SIZE]), "data.0.embedding"),
        (answer_of([0.0] * SIZE), "zeros"),
        (b'{"data": []}', "data"),
        (b"[]", "object"),
        (b"null", "object"),
        (b"\xff\xfe", "JSON"),
    ],
)
def test_what_is_wrong_with_an_answer_is_said(server: EmbeddingsServer, answer: bytes, what: str) -> None:
    encoder = ServerEncoder(server.address)
    server.answer = answer
    with pytest.raises(MathAMRError, match="did not answer as a server of embeddings does") as error:
        encoder.encode(["text"], are_queries=True)
    assert what in str(error.value)


@pytest.mark.parametrize("size", [1e30, 1e300, 1.7e308, 1e-30, 1e-300, 5e-324])
def test_vectors_of_any_size_become_unit_vectors(server: EmbeddingsServer, size: float) -> None:
    server.answer = answer_of([size, -size, 0.0, 0.0])
    (row,) = ServerEncoder(server.address).encode(["text"], are_queries=True)
    assert np.allclose(row, [[0.5**0.5, -(0.5**0.5), 0.0, 0.0]])


def test_a_dimension_is_bounded(server: EmbeddingsServer) -> None:
    server.answer = answer_of([1] * (MOST_NUMBERS + 1))
    with pytest.raises(MathAMRError, match=r"data\.0\.embedding"):
        ServerEncoder(server.address)
    server.answer = answer_of([1] * 1_000_000)
    with pytest.raises(MathAMRError, match="longer than"):
        ServerEncoder(server.address)


def test_a_long_answer_is_read_to_its_bound_and_no_further(server: EmbeddingsServer) -> None:
    encoder = ServerEncoder(server.address)
    server.answer = b'{"data": [' + b"[]," * (20 << 20) + b"[]]}"
    tracemalloc.start()
    with pytest.raises(MathAMRError, match="longer than"):
        encoder.encode(["text"], are_queries=True)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 8 << 20


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(server: EmbeddingsServer, status: int) -> None:
    with embeddings_server() as other:
        server.status, server.headers = status, {"Location": f"{other.address}/v1/embeddings"}
        with pytest.raises(MathAMRError, match=f"HTTP {status}.*names another address, which is not asked"):
            ServerEncoder(server.address)
        assert not other.asked


def test_no_proxy_of_the_environment_is_asked(
    server: EmbeddingsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with embeddings_server() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.address)
        monkeypatch.delenv("no_proxy", raising=False)
        ServerEncoder(server.address)
        assert not proxy.asked


@pytest.mark.parametrize(
    "length",
    [
        "Transfer-Encoding: chunked\r\n\r\n-1",
        "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff",
        "Content-Length: -1\r\n",
        f"Content-Length: {10**18}\r\n",
        "",
    ],
)
def test_an_answer_of_any_claimed_length_is_read_to_its_bound(length: str) -> None:
    tracemalloc.start()
    with (
        raw_server([HEAD + f"{length}\r\n".encode(), *[b"x" * (1 << 20)] * 40]) as address,
        pytest.raises(MathAMRError, match="longer than"),
    ):
        ServerEncoder(address)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 16 << 20


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


@contextmanager
def raw_server(chunks: Iterable[bytes]) -> Iterator[str]:
    """A server that answers a connection with these bytes, whatever it is asked, and then hangs up."""
    listening = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def serve() -> None:
        with suppress(OSError):
            connection, _ = listening.accept()
            with connection:
                connection.recv(1 << 16)
                for chunk in chunks:
                    if over.is_set():
                        return
                    connection.sendall(chunk)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        over.set()
        listening.close()
        thread.join(10)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"garbage\r\n\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/9.9 200 OK\r\n\r\n",
        b"\0" * 100_000,
        HEAD + b"X: " + b"x" * 100_000 + b"\r\n\r\n",
        HEAD + b"".join(b"X-%d: y\r\n" % n for n in range(200)) + b"\r\n",
        HEAD + b"Content-Length: 1000\r\n\r\n{",
        HEAD + b"Content-Length: -5\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n{",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n-5\r\n{",
        HEAD + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b" " * (64 << 20)),
        b"HTTP/1.1 103 Early Hints\r\n\r\n" + HEAD + b"\r\n{}",
        b'{"data": [{"index": 0, "embedding": [1.0]}]}',
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{",
        b"HTTP/1.1 100 Continue\r\n\r\n" * 3 + b"HTTP/1.1 200 OK\r\n",
        HEAD + b"\r\n",
    ],
)
def test_an_answer_that_is_not_http_gives_a_clear_error(answer: bytes) -> None:
    with raw_server([answer]) as address, pytest.raises(MathAMRError, match="server of embeddings"):
        ServerEncoder(address)


def drops(beginning: bytes, drop: bytes) -> Iterator[bytes]:
    yield beginning
    while True:
        time.sleep(0.05)
        yield drop


@pytest.mark.parametrize(
    ("beginning", "drop"),
    [
        (b"HTTP/1.1 200", b"x"),
        (HEAD, b"X: y\r\n"),
        (HEAD + b"Content-Length: 99999\r\n\r\n{", b" "),
        (HEAD + b"\r\n", b" "),
    ],
)
def test_an_answer_that_drips_ends_at_the_deadline(beginning: bytes, drop: bytes) -> None:
    with (
        raw_server(drops(beginning, drop)) as address,
        pytest.raises(MathAMRError, match=r"no whole answer within|more than 100 headers"),
    ):
        ServerEncoder(address, seconds=1.0)


def test_a_handshake_that_drips_ends_at_the_deadline() -> None:
    # the head of a TLS record of 16 kB, whose body comes one byte at a time
    with (
        raw_server(drops(b"\x16\x03\x03\x3f\xff", b"\0")) as address,
        pytest.raises(MathAMRError, match="no whole answer within"),
    ):
        ServerEncoder(address.replace("http://", "https://"), seconds=1.0)


@pytest.mark.parametrize(
    "address", ["http://localhost:99999", "http://localhost:x", "http://local host", "http://localhost/ä\n"]
)
def test_an_address_that_no_request_can_have_gives_a_clear_error(address: str) -> None:
    with pytest.raises(MathAMRError, match="cannot ask the server of embeddings"):
        ServerEncoder(address)


def test_a_server_that_refuses_or_is_gone_is_named(server: EmbeddingsServer) -> None:
    encoder = ServerEncoder(server.address)
    server.status = 503
    with pytest.raises(MathAMRError, match="503"):
        encoder.encode(["text"], are_queries=True)
    with embeddings_server() as other:
        address = other.address
    with pytest.raises(MathAMRError, match="cannot ask the server"):
        ServerEncoder(address)
