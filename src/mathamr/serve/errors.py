"""The one JSON shape of an error over HTTP, and how every exception gets it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mathamr.core.errors import MathAMRError, ParseError

CODES: dict[str, int] = {
    "bad_request": 400,
    "unauthorised": 401,
    "read_only": 403,
    "wrong_host": 403,
    "cross_site": 403,
    "unknown_post": 404,
    "unknown_formula": 404,
    "unknown_route": 404,
    "wrong_method": 405,
    "slow_client": 408,
    "too_large": 413,
    "unsupported_media_type": 415,
    "invalid": 422,
    "broken_formula": 422,
    "empty_query": 422,
    "too_complex": 422,
    "busy": 429,
    "internal": 500,
    "unavailable": 503,
    "timeout": 504,
}
"""Every code of an error with its HTTP status."""

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
