"""`LimitsMiddleware`: what a request must pass before its route sees it: connections, host, site, body, turns of clients."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, MutableMapping
from ipaddress import IPv6Address, ip_address
from typing import Any

from mathamr.serve.access import host_name
from mathamr.serve.connections import Connections
from mathamr.serve.errors import ApiError
from mathamr.serve.limits import Limits
from mathamr.serve.queue import CLIENT, busy

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

PREFIX = "/v1"
"""Where the routes of the API are; everything else is the page."""
HEALTH = f"{PREFIX}/health"
BEGINNING_AT_ONCE = 4
"""Requests that begin in one round of the event loop, each about two milliseconds of work before it waits for a thread."""
_CLOSE = {"Connection": "close"}


class LimitsMiddleware:
    """Wraps an application; a request that exceeds a limit raises `ApiError` before the application is called."""

    def __init__(self, app: App, limits: Limits, hosts: frozenset[str] | None = None) -> None:
        self._app, self._limits, self._hosts = app, limits, hosts
        self.connections = Connections(limits)
        self._turns = ClientTurns()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read one request completely and pass it on when it is its client's turn."""
        CLIENT.set(client_of(scope))
        connection = self.connections.of(scope)
        try:
            if connection is not None:
                connection.wait_for_client()
                if not connection.is_admitted and scope["path"] != HEALTH:
                    raise busy(1.0)
            self._check_host(scope)
            _check_site(scope)
            body = await self._read_body(scope, receive)
            if connection is not None:
                connection.begin_response()
            if scope["path"] != HEALTH:
                await self._turns.enter(CLIENT.get())
            await self._app(scope, replay(body, receive), send)
        finally:
            if connection is not None:
                connection.wait_for_client(self._limits.head_seconds)

    def _check_host(self, scope: Scope) -> None:
        given = dict(scope["headers"]).get(b"host")
        if self._hosts is None and given is None:
            return
        name = host_name((given or b"").decode("latin-1"))
        if not name or (self._hosts is not None and name not in self._hosts):
            raise ApiError(
                "wrong_host",
                "this server does not answer to that host; allow it with: mathamr serve --allow-host NAME",
            )

    async def _read_body(self, scope: Scope, receive: Receive) -> bytes:
        """Return the body; raise as soon as it is known to be too large, of another type or too slow."""
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"0").decode("latin-1")
        if length.isdecimal() and int(length[:20]) > self._limits.body_bytes:
            raise self._too_large()
        if length in ("", "0") and b"transfer-encoding" not in headers:
            return b""
        body = bytearray()
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                more = True
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise ApiError("bad_request", "the body ended early", headers=_CLOSE)
                    body += message.get("body", b"")
                    if len(body) > self._limits.body_bytes:
                        raise self._too_large()
                    more = message.get("more_body", False)
        except TimeoutError:
            raise ApiError(
                "slow_client",
                f"the body did not arrive within {self._limits.body_seconds:g} seconds",
                headers=_CLOSE,
            ) from None
        kind = headers.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()
        if body and kind != "application/json" and scope["method"] in ("POST", "PUT", "PATCH"):
            raise ApiError("unsupported_media_type", "the body must be application/json")
        return bytes(body)

    def _too_large(self) -> ApiError:
        return ApiError(
            "too_large", f"a body may have at most {self._limits.body_bytes} bytes", headers=_CLOSE
        )


class ClientTurns:
    """Lets few requests begin in each round of the event loop, taken from the clients that wait in turn.

    Hundreds that arrive at once would delay a health check otherwise. Only used on the event loop.
    """

    def __init__(self, at_once: int = BEGINNING_AT_ONCE) -> None:
        self._at_once, self._begun = at_once, 0
        self._is_running = False
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    async def enter(self, client: str) -> None:
        """Wait until a request of this client may begin."""
        self._run_rounds()
        if self._begun < self._at_once and not self._waiting:
            self._begun += 1
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(client, deque()).append(place)
        await place

    def _run_rounds(self) -> None:
        if not self._is_running:
            self._is_running = True
            asyncio.get_running_loop().call_soon(self._next_round)

    def _next_round(self) -> None:
        """Let the next requests begin; between two calls the loop looks for what has arrived."""
        self._begun = 0
        while self._waiting and self._begun < self._at_once:
            client, places = self._waiting.popitem(last=False)
            place = places.popleft()
            if places:
                self._waiting[client] = places
            if not place.done():
                place.set_result(None)
                self._begun += 1
        self._is_running = False
        if self._waiting:
            self._run_rounds()


def client_of(scope: Scope) -> str:
    """Return whose turn a request counts as: its address, or its network where one client has many addresses (IPv6)."""
    host = str((scope.get("client") or ("", 0))[0])
    try:
        number = ip_address(host)
    except ValueError:
        return host
    if isinstance(number, IPv6Address) and number.ipv4_mapped is None:
        return str(IPv6Address(int(number) >> 64 << 64))
    return host


def replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the body that was already read, and then whatever follows."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return messages.pop() if messages else await receive()

    return receive_again


def _check_site(scope: Scope) -> None:
    """Refuse API requests that a browser sends for a page of another site; other programs do not send the header."""
    if scope["path"].startswith(PREFIX) and dict(scope["headers"]).get(b"sec-fetch-site") == b"cross-site":
        raise ApiError("cross_site", "a page of another site may not use this server; open its own page")
