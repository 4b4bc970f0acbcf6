"""`PageFiles`: the files of the page, which a browser keeps and asks about before it uses them again."""

from __future__ import annotations

import os
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import FileResponse, Response
from starlette.staticfiles import NotModifiedResponse, PathLike, StaticFiles
from starlette.types import Receive, Scope, Send

CACHING = "no-cache"
"""Kept, but never used unasked: after an update of mathamr nobody sees an old page."""


class WholeFile(FileResponse):
    """A file that is always sent whole: the page's are small, and nobody asks for parts of them but to try."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers as if no range was asked for, which a server may always do."""
        asked = [(name, value) for name, value in scope["headers"] if name not in (b"range", b"if-range")]
        await super().__call__({**scope, "headers": asked}, receive, send)


class PageFiles(StaticFiles):
    """A folder whose files have their content's digest as ETag: what a browser has already is not sent again."""

    def file_response(
        self, full_path: PathLike, stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        """The file, or 304 where the client has it; dates do not count, since an installation may turn them back."""
        etag = _etag(Path(full_path), stat_result.st_mtime_ns, stat_result.st_size)
        headers = {"ETag": etag, "Cache-Control": CACHING}
        response = WholeFile(full_path, status_code, headers, stat_result=stat_result)
        del response.headers["last-modified"], response.headers["accept-ranges"]
        request = Headers(scope=scope)
        if "if-none-match" in request and self.is_not_modified(response.headers, request):
            return NotModifiedResponse(response.headers)
        return response


@lru_cache(256)
def _etag(path: Path, changed: int, size: int) -> str:
    """The digest of a file; it is read again only when it was changed."""
    return f'"{blake2b(path.read_bytes(), digest_size=16).hexdigest()}"'
