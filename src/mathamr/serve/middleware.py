"""`Middleware`: what every request passes before and after its route: limits, headers, log, the last resort."""

from __future__ import annotations

import json
import logging
import secrets
import time
import traceback
from typing import Any

from mathamr.serve.accesslog import FIELDS
from mathamr.serve.errors import ApiError
from mathamr.serve.limiting import (
    HEALTH,
    PREFIX,
    App,
    LimitsMiddleware,
    Message,
    Receive,
    Scope,
    Send,
    replay,
)
from mathamr.serve.limits import Limits
from mathamr.serve.routes import ANY

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
_METHODS = frozenset(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"])


class Middleware:
    """Wraps the application; every response leaves with the same headers, every error in the same shape."""

    def __init__(
        self,
        app: App,
        limits: Limits,
        hosts: frozenset[str] | None = None,
        *,
        log_queries: bool = False,
    ) -> None:
        self._app, self._log_queries = app, log_queries
        self.limiting = LimitsMiddleware(app, limits, hosts)

    async def warm(self) -> None:
        """Send a health check to the application, so that the first client need not wait for what is built then."""
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

        await self._app(scope, replay(b"", receive), send)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request, from its head to the end of its response."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        state = scope.setdefault("state", {})
        state["request"] = request = secrets.token_hex(8)
        response = _Response(send, request, closes=_has_two_lengths(scope))
        try:
            await self.limiting(scope, receive, response.send)
        except ApiError as error:
            await response.fail(error)
        except Exception as error:
            self._log_failure(request, error)
            await response.fail(ApiError("internal", "an internal error; the server's log has the details"))
        finally:
            self._record(scope, response.status, time.perf_counter() - started, request)

    def _log_failure(self, request: str, error: Exception) -> None:
        """Log where a request failed; the exception's text, which may quote a query, only if queries are logged."""
        if self._log_queries:
            LOG.error("request %s failed", request, exc_info=error)
        else:
            frames = "".join(traceback.format_tb(error.__traceback__))
            LOG.error("request %s failed with %s\n%s", request, type(error).__name__, frames)

    def _record(self, scope: Scope, status: int, seconds: float, request: str) -> None:
        route = _route(scope)
        method = scope["method"] if scope["method"] in _METHODS else "other"
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


class _Response:
    """Sends a response to the client, with the headers that every response has."""

    def __init__(self, send: Send, request: str, *, closes: bool = False) -> None:
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
        """Send an error, unless a response has begun."""
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


def _has_two_lengths(scope: Scope) -> bool:
    """Return True for a body with two lengths; such a connection is closed, since a proxy may see another request in it (RFC 9112, 6.1)."""
    headers = dict(scope["headers"])
    return b"content-length" in headers and b"transfer-encoding" in headers


def _route(scope: Scope) -> str:
    """Return the route of a request as the API describes it, without the ids in its path."""
    pattern: str | None = getattr(scope.get("route"), "path", None)
    if not scope["path"].startswith(f"{PREFIX}/"):
        return "page"
    if not pattern:
        return "other"
    return PREFIX + pattern.removeprefix(PREFIX).replace(f":{ANY}}}", "}")
