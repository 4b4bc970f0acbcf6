"""`Middleware`: what every request passes before and after its route: limits, headers, log, metrics, the last resort."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
import traceback
from collections.abc import Awaitable, Callable, MutableMapping
from ipaddress import IPv6Address, ip_address
from typing import Any

from mathamr.serve.access import host_name
from mathamr.serve.accesslog import FIELDS
from mathamr.serve.connections import ClientConnections
from mathamr.serve.errors import ApiError
from mathamr.serve.limits import Limits
from mathamr.serve.metrics import Metrics
from mathamr.serve.queue import CLIENT, busy
from mathamr.serve.rounds import Rounds
from mathamr.serve.routes import ANY
from mathamr.serve.tracing import Tracer

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

PREFIX = "/v1"
"""Where the routes of the API are; everything else is the page."""
HEALTH, READY = f"{PREFIX}/health", f"{PREFIX}/ready"

LOG = logging.getLogger("mathamr.serve")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; font-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The page's Content-Security-Policy: everything from this server, nothing inline, no frames."""

PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"
"""The policy of a picture that is opened on its own: its own style, and nothing else."""

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_CLOSE = {"Connection": "close"}
_METHODS = frozenset(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"])


class Middleware:
    """Wraps the application; every response leaves with the same headers, every error in the same shape."""

    def __init__(
        self,
        app: App,
        limits: Limits,
        metrics: Metrics,
        hosts: frozenset[str] | None = None,
        log_queries: bool = False,
        tracer: Tracer | None = None,
    ) -> None:
        self._app, self._limits, self._metrics = app, limits, metrics
        self._hosts, self._log_queries, self._tracer = hosts, log_queries, tracer
        self.connections = ClientConnections(limits, {**HEADERS, "Content-Security-Policy": POLICY})
        self._rounds = Rounds()
        self.stopping = False
        """True when the server is about to stop: it still answers, but `/v1/ready` says no."""

    async def warm(self) -> None:
        """Sends a health check to the application, so that the first client need not wait for what is built then."""
        scope: Scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": HEALTH,
            "raw_path": HEALTH.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": [],
            "state": {"request": "warm"},
        }

        async def receive() -> Message:
            raise AssertionError("the body has ended")

        async def send(message: Message) -> None:
            pass

        await self._app(scope, _replayed(b"", receive), send)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request, from its head to the end of its response."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        state = scope.setdefault("state", {})
        state["request"] = request = secrets.token_hex(8)
        CLIENT.set(_client(scope))
        connection = self.connections.of(scope)
        response = _Response(send, request, closes=self.stopping or _has_two_lengths(scope))
        try:
            if connection is not None:
                connection.head_arrived()
                if not connection.is_admitted and scope["path"] != HEALTH:
                    raise busy(1.0)
            self._check_host(_headers(scope))
            _check_site(scope)
            if self.stopping and scope["path"] == READY:
                raise ApiError("unavailable", "the server is about to stop; ask another one")
            body = await self._body(scope, receive)
            if connection is not None:
                connection.begin_response()
            if scope["path"] != HEALTH:
                await self._rounds.enter(CLIENT.get())
            await self._app(scope, _replayed(body, receive), response.send)
        except ApiError as error:
            await response.fail(error)
        except Exception as error:
            self._log_failure(request, error)
            await response.fail(ApiError("internal", "an internal error; the server's log has the details"))
        finally:
            if connection is not None:
                connection.wait_for_client(self._limits.head_seconds)
            self._record(scope, response.status, time.perf_counter() - started, request)

    def _check_host(self, headers: dict[bytes, bytes]) -> None:
        given = headers.get(b"host")
        if self._hosts is None and given is None:
            return
        name = host_name((given or b"").decode("latin-1"))
        if not name or (self._hosts is not None and name not in self._hosts):
            raise ApiError(
                "wrong_host",
                "this server does not answer to that host; allow it with: mathamr serve --allow-host NAME",
            )

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        """Reads the body; raises as soon as it is known to be too large, of another type or too slow."""
        headers = _headers(scope)
        length = headers.get(b"content-length", b"0").decode("latin-1")
        if length.isdecimal() and int(length[:20]) > self._limits.body_bytes:
            raise self._too_large()
        if length in ("", "0") and b"transfer-encoding" not in headers:
            return b""
        kind = headers.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise ApiError("bad_request", "the body ended early", headers=_CLOSE)
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > self._limits.body_bytes:
                        raise self._too_large()
                    if not message.get("more_body"):
                        break
        except TimeoutError:
            raise ApiError(
                "slow_client",
                f"the body did not arrive within {self._limits.body_seconds:g} seconds",
                headers=_CLOSE,
            ) from None
        if size and kind != "application/json" and scope["method"] in ("POST", "PUT", "PATCH"):
            raise ApiError("unsupported_media_type", "the body must be application/json")
        return b"".join(parts)

    def _too_large(self) -> ApiError:
        return ApiError(
            "too_large", f"a body may have at most {self._limits.body_bytes} bytes", headers=_CLOSE
        )

    def _log_failure(self, request: str, error: Exception) -> None:
        """Logs where it happened; the exception's text, which may quote a query, only where queries are logged."""
        if self._log_queries:
            LOG.error("request %s failed", request, exc_info=error)
        else:
            frames = "".join(traceback.format_tb(error.__traceback__))
            LOG.error("request %s failed with %s\n%s", request, type(error).__name__, frames)

    def _record(self, scope: Scope, status: int, seconds: float, request: str) -> None:
        route = _route(scope)
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._metrics.request(method, route, status, seconds)
        client = (scope.get("client") or ("-", 0))[0]
        state = scope["state"]
        entry: dict[str, Any] = {
            "request": request,
            "client": client,
            "method": method,
            "route": route,
            "status": status,
            "seconds": round(seconds, 6),
        }
        if stages := state.get("stages"):
            entry["stages"] = {stage: round(value, 6) for stage, value in stages.items()}
        quoted = ""
        if self._log_queries and (query := state.get("query")):
            entry["query"] = query[:1000]
            quoted = " " + json.dumps(query[:1000])
        message = "%s %s %s %d %.3f s %s%s"
        LOG.info(message, client, method, route, status, seconds, request, quoted, extra={FIELDS: entry})
        if self._tracer is not None:
            self._tracer.record(entry, _headers(scope))


class _Response:
    """Sends a response to the client, with the headers that every response has."""

    def __init__(self, send: Send, request: str, closes: bool = False) -> None:
        self.status = 0
        self._send, self._request, self._closes = send, request, closes

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = list(message.get("headers", ()))
            present = {name.lower() for name, _ in headers}
            is_picture = any(
                value.startswith(b"image/svg") for name, value in headers if name == b"content-type"
            )
            policy = PICTURE_POLICY if is_picture and b"etag" not in present else POLICY
            added = {**HEADERS, "Content-Security-Policy": policy, "X-Request-Id": self._request}
            if b"cache-control" not in present:
                added["Cache-Control"] = "no-store"
            if self._closes and b"connection" not in present:
                added["Connection"] = "close"
            headers += [(name.lower().encode(), value.encode()) for name, value in added.items()]
            message = {**message, "headers": headers}
        await self._send(message)

    async def fail(self, error: ApiError) -> None:
        """Sends an error, unless a response has begun."""
        if self.status:
            return
        body = error.body(self._request)
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **error.headers}
        await self.send(
            {
                "type": "http.response.start",
                "status": error.status,
                "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
            }
        )
        await self._send({"type": "http.response.body", "body": body})


def _headers(scope: Scope) -> dict[bytes, bytes]:
    return dict(scope["headers"])


def _has_two_lengths(scope: Scope) -> bool:
    """True for a body with two lengths; such a connection is closed, since a proxy may see another request in it (RFC 9112, 6.1)."""
    headers = _headers(scope)
    return b"content-length" in headers and b"transfer-encoding" in headers


def _client(scope: Scope) -> str:
    """Whose turn a request counts as: its address, or its network where one client has many addresses (IPv6)."""
    host = str((scope.get("client") or ("", 0))[0])
    try:
        number = ip_address(host)
    except ValueError:
        return host
    if isinstance(number, IPv6Address) and number.ipv4_mapped is None:
        return str(IPv6Address(int(number) >> 64 << 64))
    return host


def _check_site(scope: Scope) -> None:
    """Refuses API requests that a browser sends for a page of another site; other programs do not send the header."""
    if scope["path"].startswith(PREFIX) and _headers(scope).get(b"sec-fetch-site") == b"cross-site":
        raise ApiError("cross_site", "a page of another site may not use this server; open its own page")


def _route(scope: Scope) -> str:
    """The route of a request as the API describes it, without the ids in its path."""
    pattern: str | None = getattr(scope.get("route"), "path", None)
    if not scope["path"].startswith(f"{PREFIX}/"):
        return "page"
    if not pattern:
        return "other"
    return PREFIX + pattern.removeprefix(PREFIX).replace(f":{ANY}}}", "}")


def _replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that returns the body that was already read, and then whatever follows."""
    is_sent = False

    async def replay() -> Message:
        nonlocal is_sent
        if is_sent:
            return await receive()
        is_sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
