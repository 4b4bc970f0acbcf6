from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest

from mathamr.serve.limiting import Message, Receive, Scope, Send
from mathamr.serve.limits import Limits
from mathamr.serve.middleware import HEADERS, PICTURE_POLICY, POLICY, Middleware
from tests.cases import cases

Exchange = tuple[int, dict[str, str], bytes]


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the body it was sent."""
    message = await receive()
    await _answer(send, message["body"], b"text/plain")


async def broken(scope: Scope, receive: Receive, send: Send) -> None:
    raise ValueError(scope["query_string"].decode())


async def _answer(send: Send, body: bytes, kind: bytes) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind)]})
    await send({"type": "http.response.body", "body": body})


def ask(
    app: Any,
    chunks: list[bytes] | None = None,
    headers: dict[str, str] | None = None,
    limits: Limits | None = None,
    method: str = "POST",
    endless: bool = False,
    path: str = "/v1/x",
    **options: Any,
) -> Exchange:
    """One request straight to the gate; an endless body never comes to its end."""
    sent: list[Message] = []
    waiting = list(chunks or [])

    async def receive() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(0), "more_body": bool(waiting) or endless}
        if endless:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    given = {"host": "localhost", "content-type": "application/json", "transfer-encoding": "chunked"} | (
        headers or {}
    )
    scope: Scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"q=private",
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
        "client": ("127.0.0.1", 5),
    }
    asyncio.run(Middleware(app, limits or Limits(), **options)(scope, receive, send))
    start = sent[0]
    told = {name.decode(): value.decode() for name, value in start["headers"]}
    return start["status"], told, b"".join(message.get("body", b"") for message in sent[1:])


def code(exchange: Exchange) -> str:
    status, _, body = exchange
    error = json.loads(body)["error"]
    assert error["status"] == status
    return str(error["code"])


def test_a_body_reaches_the_application_whole() -> None:
    status, _, body = ask(echo, [b"ab", b"c", b"def"], hosts=frozenset(["localhost"]))
    assert (status, body) == (200, b"abcdef")


SMALL = Limits(body_bytes=100)
LOCAL = frozenset(["localhost"])


@cases(
    ("request_", "expected"),
    [
        ({"headers": {"content-length": "9" * 23}}, "too_large"),
        ({"chunks": [b"x" * 60, b"x" * 60], "limits": SMALL, "endless": True}, "too_large"),
        ({"chunks": [b"x" * 200], "limits": SMALL, "method": "GET"}, "too_large"),
        ({"chunks": [b"x"], "limits": Limits(body_seconds=0.01), "endless": True}, "slow_client"),
        *(
            ({"chunks": [b"{}"], "headers": {"content-type": kind}}, "unsupported_media_type")
            for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "")
        ),
        *(
            ({"headers": {"host": host}, "hosts": LOCAL}, "wrong_host")
            for host in ("evil.example", "localhost.evil.example", "")
        ),
        *(
            ({"headers": {"host": host}}, "wrong_host")
            for host in ("[::1]evil.org", "a@b", "a b", "localhost:x")
        ),
    ],
)
def test_what_exceeds_a_limit_or_comes_from_elsewhere_is_refused(
    request_: dict[str, Any], expected: str
) -> None:
    """Other types than JSON are what a page of another site can send unasked."""
    exchange = ask(echo, **request_)
    assert code(exchange) == expected
    if expected in ("too_large", "slow_client"):
        assert exchange[1]["connection"] == "close"


def test_every_answer_has_the_headers_that_keep_a_page_safe() -> None:
    for app in (echo, broken):
        _, headers, _ = ask(app)
        assert headers["content-security-policy"] == POLICY
        for name, value in HEADERS.items():
            assert headers[name.lower()] == value
        assert len(headers["x-request-id"]) == 16
    assert "unsafe" not in POLICY


def test_a_picture_opened_on_its_own_runs_nothing() -> None:
    async def picture(scope: Scope, receive: Receive, send: Send) -> None:
        await _answer(send, b"<svg/>", b"image/svg+xml")

    assert ask(picture)[1]["content-security-policy"] == PICTURE_POLICY
    assert "script" not in PICTURE_POLICY
    assert "sandbox" in PICTURE_POLICY


def test_a_mistake_of_the_server_tells_the_client_nothing_but_its_number(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR, "mathamr.serve"):
        exchange = ask(broken)
    assert code(exchange) == "internal"
    assert b"private" not in exchange[2]
    assert b"ValueError" not in exchange[2]
    assert exchange[1]["x-request-id"] in caplog.text
    assert "ValueError" in caplog.text
    assert "private" not in caplog.text


def test_a_failure_after_the_answer_began_does_not_begin_another() -> None:
    async def half(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ValueError

    status, _, body = ask(half)
    assert (status, body) == (200, b"")


@pytest.mark.parametrize("log_queries", [False, True])
def test_queries_are_in_the_log_only_where_it_was_asked_for(
    caplog: pytest.LogCaptureFixture, log_queries: bool
) -> None:
    async def searching(scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"]["query"] = "private\nline"
        await echo(scope, receive, send)

    with caplog.at_level(logging.INFO, "mathamr.serve"):
        ask(searching, log_queries=log_queries)
    (line,) = caplog.messages
    assert ("private" in line) is log_queries
    assert "\n" not in line


def test_the_log_names_the_route_and_not_the_address(caplog: pytest.LogCaptureFixture) -> None:
    class Route:
        path = "/posts/{id:any}"

    async def posts(scope: Scope, receive: Receive, send: Send) -> None:
        scope["route"] = Route
        await echo(scope, receive, send)

    with caplog.at_level(logging.INFO, "mathamr.serve"):
        ask(posts, path="/v1/posts/a")
    (line,) = caplog.messages
    assert line.split()[2] == "/v1/posts/{id}"


@cases(
    ("path", "site", "expected"),
    [
        ("/v1/search", "cross-site", "cross_site"),
        ("/v1/posts/1", "cross-site", "cross_site"),
        ("/v1/search", "same-origin", None),
        ("/v1/search", "none", None),
        ("/", "cross-site", None),
    ],
)
def test_a_page_of_another_site_may_not_use_the_api(path: str, site: str, expected: str | None) -> None:
    answer = ask(echo, path=path, headers={"sec-fetch-site": site})
    assert answer[0] == (403 if expected else 200)
    if expected:
        assert code(answer) == expected
