"""An encoder behind HTTP: any server that speaks the common embeddings API. It is asked only if the user names it.

One exchange is one request to the named address: no proxy, no redirect, one deadline and one length for all of the answer.
"""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Annotated
from urllib.parse import urldefrag, urlsplit

import numpy as np
from pydantic import BaseModel, Field, ValidationError

from mathamr.core.arrays import FloatArray
from mathamr.core.batches import batches
from mathamr.core.errors import MathAMRError

AT_A_TIME, SECONDS = 32, 120.0
"""The number of texts in a request, and how long it may take from the first byte to the last."""
LONGEST_TEXT = 8_000
"""Characters of a post that are sent: servers refuse what is longer than their model reads."""
MOST_NUMBERS = 1 << 14
"""The largest dimension of a vector; models have up to 12,288."""
_A_NUMBER, _THE_REST = 64, 1 << 16
"""Bytes of an answer: a number with its indentation, and all other fields."""


_Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class _Embedding(BaseModel):
    index: Annotated[int, Field(strict=True, ge=0, lt=AT_A_TIME)]
    embedding: Annotated[list[_Number], Field(strict=True, min_length=1, max_length=MOST_NUMBERS)]


class _Answer(BaseModel):
    data: Annotated[list[_Embedding], Field(strict=True, min_length=1, max_length=AT_A_TIME)]


class ServerEncoder:
    """One vector a text from ``ADDRESS/embeddings``; the part behind # names the model, as servers of several need."""

    def __init__(self, address: str, seconds: float = SECONDS) -> None:
        base, self._model = urldefrag(address)
        self._url = f"{base.rstrip('/').removesuffix('/v1')}/v1/embeddings"
        self._seconds = seconds
        self.size = 0
        self.size = self.encode(["x"], are_queries=True)[0].shape[1]

    def encode(self, texts: Sequence[str], *, are_queries: bool) -> list[FloatArray]:  # noqa: ARG002
        """Return one unit vector a text; servers make no difference between queries and documents."""
        shortened = (text[:LONGEST_TEXT] for text in texts)
        return [row for some in batches(shortened, AT_A_TIME) for row in self._ask(some)]

    def _ask(self, texts: list[str]) -> list[FloatArray]:
        longest = len(texts) * (self.size or MOST_NUMBERS) * _A_NUMBER + _THE_REST
        content = self._exchange({"input": texts, "model": self._model or "default"}, longest)
        try:
            rows = _rows(content, len(texts))
            if self.size not in (0, rows.shape[1]):
                raise ValueError(f"it has vectors of {rows.shape[1]} numbers, before they had {self.size}")
        except ValueError as error:
            raise MathAMRError(
                f"{self._url} did not answer as a server of embeddings does: {error}"
            ) from error
        return list(rows[:, None])

    def _exchange(self, question: object, longest: int) -> bytes:
        """Return the body of the answer to one request."""
        try:
            parts = urlsplit(self._url)
            kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
            connection = kind(parts.hostname or "", parts.port, timeout=self._seconds)
            target = parts.path + (f"?{parts.query}" if parts.query else "")
            with _deadline(connection, self._seconds) as is_over:
                try:
                    if isinstance(connection.sock, ssl.SSLSocket):
                        connection.sock.do_handshake()
                    headers = {"Content-Type": "application/json", "Accept": "application/json"}
                    connection.request("POST", target, json.dumps(question).encode(), headers)
                    answer = connection.getresponse()
                    content = answer.read(longest + 1)
                except (OSError, HTTPException) as error:
                    if is_over.is_set() or isinstance(error, TimeoutError):
                        raise TimeoutError(f"no whole answer within {self._seconds:g} s") from error
                    raise
                if is_over.is_set():
                    raise TimeoutError(f"no whole answer within {self._seconds:g} s")
            if answer.status != 200:
                raise OSError(f"HTTP {answer.status} {answer.reason[:100]}" + _elsewhere(answer.status))
            if len(content) > longest:
                raise OSError(f"its answer is longer than {longest:,} bytes")
        except (OSError, HTTPException, ValueError) as error:
            why = str(error)[:300] or type(error).__name__
            raise MathAMRError(f"cannot ask the server of embeddings {self._url}: {why}") from error
        return content


@contextmanager
def _deadline(connection: HTTPConnection, seconds: float) -> Iterator[threading.Event]:
    """End the connection after some seconds, even if a byte comes now and then; the event says whether that has happened."""
    is_over = threading.Event()

    def end() -> None:
        is_over.set()
        with suppress(OSError):
            line.shutdown(socket.SHUT_RDWR)

    line = socket.create_connection((connection.host, connection.port), timeout=seconds)
    if isinstance(connection, HTTPSConnection):
        context = ssl.create_default_context()
        line = context.wrap_socket(line, server_hostname=connection.host, do_handshake_on_connect=False)
    connection.sock = line
    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield is_over
    finally:
        timer.cancel()
        connection.close()
        line.close()


def _elsewhere(status: int) -> str:
    return (
        "; it names another address, which is not asked: name that one yourself"
        if 300 <= status < 400
        else ""
    )


def _rows(content: bytes, count: int) -> FloatArray:
    """Return the unit vectors of an answer in the order of the texts."""
    try:
        data = _Answer.model_validate_json(content).data
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ValueError(f"{where}: {first['msg']}" if where else first["msg"]) from error
    if sorted(row.index for row in data) != list(range(count)):
        raise ValueError(f"it has {len(data)} vectors for {count} texts, or two of one text")
    if len({len(row.embedding) for row in data}) > 1:
        raise ValueError("its vectors are of several lengths")
    rows = np.array([row.embedding for row in sorted(data, key=lambda row: row.index)], np.float64)
    largest = np.abs(rows).max(axis=1, keepdims=True)
    if not largest.all():
        raise ValueError("it has a vector of zeros")
    rows = rows / largest  # so that squares neither overflow nor vanish
    units: FloatArray = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return units
