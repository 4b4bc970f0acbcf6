"""The one JSON shape of an error over HTTP, and how every exception gets it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mathamr.core.errors import MathAMRError, ParseError

ERRORS: dict[str, tuple[int, str]] = {
    "bad_request": (400, "the body is not JSON that can be read, or ended early"),
    "unauthorised": (401, "a key is needed and missing or wrong"),
    "read_only": (403, "a write, on a server without a key for them or with an index opened for reading"),
    "wrong_host": (
        403,
        "the `Host` header names a host that this server does not serve, or is no name at all",
    ),
    "cross_site": (403, "a browser asked on behalf of a page of another site (`Sec-Fetch-Site: cross-site`)"),
    "unknown_post": (404, "there is no such post"),
    "unknown_formula": (404, "there is no such formula"),
    "unknown_route": (404, "there is no such route"),
    "wrong_method": (405, "the route has no such method"),
    "slow_client": (408, "the body did not arrive in time"),
    "too_large": (413, "the body is above the limit"),
    "unsupported_media_type": (415, "the body is not `application/json`"),
    "invalid": (
        422,
        "a parameter is missing, has the wrong type or is above its limit, or the entry has too few words to be explained;"
        " `field` names it",
    ),
    "broken_formula": (422, "LaTeX that cannot be read; `offset` is the place in what was sent"),
    "empty_query": (
        422,
        "nothing to search for: no words and no formulas, or in a search for formulas none of those",
    ),
    "too_complex": (422, "a graph or formula is too large to draw, or a write takes too much work"),
    "busy": (429, "too much work at once; come back after `Retry-After` seconds"),
    "internal": (500, "our mistake; the log has the details under the request's id"),
    "unavailable": (503, "the index cannot answer just now"),
    "timeout": (504, "the query took longer than its limit"),
}
"""Every code of an error with its HTTP status, and when it is sent; the docs use this list."""
CODES = {code: status for code, (status, _) in ERRORS.items()}

_LONGEST_MESSAGE = 500


class ApiError(MathAMRError):
    """An error for a client: a code from `CODES`, what is wrong and what to do."""

    def __init__(
        self,
        code: str,
        message: str,
        field: str | None = None,
        offset: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.code, self.message, self.field, self.offset = code, message, field, offset
        self.headers = headers or {}
        self.status = CODES[code]
        super().__init__(message)

    def body(self, request: str) -> bytes:
        """Return the JSON that a client gets; `request` is the id of the request."""
        error: dict[str, Any] = {
            "code": self.code,
            "message": _clipped(self.message),
            "status": self.status,
            "request": request,
        }
        if self.field is not None:
            error["field"] = self.field
        if self.offset is not None:
            error["offset"] = self.offset
        return json.dumps({"error": error}, ensure_ascii=False).encode("utf-8", "replace")


def from_error(error: MathAMRError) -> ApiError:
    """Convert an exception of another package; a parse error keeps its offset."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, ParseError):
        return ApiError("broken_formula", error.message, offset=error.offset)
    return ApiError("invalid", str(error))


def from_status(status: int, detail: str = "") -> ApiError:
    """Return the error for an HTTP status that the framework raises."""
    if status == 404:
        return ApiError(
            "unknown_route", "there is nothing at this address; /v1/openapi.json lists the routes"
        )
    if status == 405:
        return ApiError("wrong_method", "this address has no such method; /v1/openapi.json lists the routes")
    code = next((name for name, value in CODES.items() if value == status), "bad_request")
    return ApiError(code, detail or "the request could not be read")


def from_validation(problems: list[Mapping[str, Any]]) -> ApiError:
    """Return the error for a request that does not match the schema of its route, with its first problem."""
    first = problems[0] if problems else {}
    place = [str(part) for part in first.get("loc", ())]
    if first.get("type") == "json_invalid":
        return ApiError("bad_request", "the body is not valid JSON", "body")
    name = ".".join(place[1:]) or "body"
    message = f"{name}: {first.get('msg', 'does not match the schema')}"
    others = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return ApiError("invalid", message + others, name)


def _clipped(message: str) -> str:
    return message if len(message) <= _LONGEST_MESSAGE else message[: _LONGEST_MESSAGE - 1] + "…"
