"""`PageFiles`: the files of the page, which a browser caches and revalidates before each use."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

CACHING = "no-cache"
"""Cached, but revalidated before each use: after an update of mathamr nobody sees an old page."""


class PageFiles(StaticFiles):
    """A folder whose files are always sent whole, since they are small, and not again to a browser that has them."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the whole file: a server may ignore the range of a request."""
        headers = [(name, value) for name, value in scope["headers"] if name not in (b"range", b"if-range")]
        await super().__call__({**scope, "headers": headers}, receive, send)

    def file_response(self, *given: Any, **named: Any) -> Response:
        """Return the file, or 304 if the client has it."""
        response = super().file_response(*given, **named)
        response.headers["Cache-Control"] = CACHING
        return response
