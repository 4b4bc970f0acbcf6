"""`post_json`: one question in JSON to one server that the user named, and the bytes of its answer.

One exchange is one request to the named address: no proxy, no redirect, one deadline and one length for all of the answer.
"""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead
from urllib.parse import urlsplit

from mathamr.core.errors import MathAMRError


def post_json(url: str, question: object, longest: int, seconds: float, server: str) -> bytes:
    """Return the body of the answer to one request, of at most `longest` bytes; `server` says in errors who was asked."""
    try:
        parts = urlsplit(url)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=seconds)
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        with _deadline(connection, seconds) as is_over:
            try:
                if isinstance(connection.sock, ssl.SSLSocket):
                    connection.sock.do_handshake()
                headers = {"Content-Type": "application/json", "Accept": "application/json"}
                connection.request("POST", target, json.dumps(question).encode(), headers)
                with closing(connection.getresponse()) as answer:
                    content = _content(answer, longest)
            except (OSError, HTTPException) as error:
                if is_over.is_set() or isinstance(error, TimeoutError):
                    raise TimeoutError(f"no whole answer within {seconds:g} s") from error
                raise
            if is_over.is_set():
                raise TimeoutError(f"no whole answer within {seconds:g} s")
        if answer.status != 200:
            elsewhere = "; it names another address, which is not asked: name that one yourself"
            raise OSError(
                f"HTTP {answer.status} {answer.reason[:100]}{elsewhere if answer.getheader('Location') else ''}"
            )
        if len(content) > longest:
            raise OSError(f"its answer is longer than {longest:,} bytes")
    except (OSError, HTTPException, ValueError) as error:
        why = str(error)[:300] or type(error).__name__
        raise MathAMRError(f"cannot ask the {server} {url}: {why}") from error
    return content


def _content(answer: HTTPResponse, longest: int) -> bytes:
    """Return the body of an answer, or its beginning if that is longer; a server may claim any length of a part, negative ones too."""
    content = bytearray()
    while len(content) <= longest and (block := answer.read1(1 << 16)):
        content += block
    if len(content) <= longest and answer.length:
        raise IncompleteRead(bytes(content), answer.length)
    return bytes(content)


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
