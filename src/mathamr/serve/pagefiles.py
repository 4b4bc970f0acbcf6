"""`PageFiles`: the files of the page, which a browser caches and revalidates before each use."""

from __future__ import annotations

import os
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from stat import S_ISREG

from starlette.datastructures import Headers
from starlette.responses import FileResponse, Response
from starlette.staticfiles import NotModifiedResponse, PathLike, StaticFiles
from starlette.types import Receive, Scope, Send

CACHING = "no-cache"
"""Cached, but revalidated before each use: after an update of mathamr nobody sees an old page."""


class WholeFile(FileResponse):
    """A file that is always sent whole; the files of the page are small."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Ignore a requested range, which a server may always do."""
        headers = [(name, value) for name, value in scope["headers"] if name not in (b"range", b"if-range")]
        await super().__call__({**scope, "headers": headers}, receive, send)


class PageFiles(StaticFiles):
    """A folder whose files have the digest of their content as ETag: what a browser has is not sent again."""

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        """Find a file and compute its ETag; starlette calls this in a thread, so the event loop reads no file."""
        found, stat = super().lookup_path(path)
        if stat is not None and S_ISREG(stat.st_mode):
            _etag(Path(found), stat.st_mtime_ns, stat.st_size)
        return found, stat

    def file_response(
        self, full_path: PathLike, stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        """Return the file, or 304 if the client has it; dates are ignored, since an installation may turn them back."""
        etag = _etag(Path(full_path), stat_result.st_mtime_ns, stat_result.st_size)
        headers = {"ETag": etag, "Cache-Control": CACHING}
        response = WholeFile(full_path, status_code, headers, stat_result=stat_result)
        del response.headers["last-modified"], response.headers["accept-ranges"]
        request = Headers(scope=scope)
        if "if-none-match" in request and self.is_not_modified(response.headers, request):
            return NotModifiedResponse(response.headers)
        return response


@lru_cache(256)
def _etag(path: Path, _changed: int, _size: int) -> str:
    """Return the digest of a file; it is read again only when it has changed."""
    return f'"{blake2b(path.read_bytes(), digest_size=16).hexdigest()}"'
