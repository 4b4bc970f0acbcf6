"""The application: routes under `/v1`, the page at `/`, one shape of error, and the middleware around all of it."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from mathamr import __version__
from mathamr.core.errors import MathAMRError
from mathamr.serve.answers import errors
from mathamr.serve.errors import ApiError, from_error, from_status, from_validation
from mathamr.serve.limiting import PREFIX
from mathamr.serve.middleware import Middleware
from mathamr.serve.pagefiles import PageFiles
from mathamr.serve.routes import explain, formulas, notation, posts, search, similar, status
from mathamr.serve.service import Service

DESCRIPTION = "Search mathematics by words and formulas: what they say, how they look and what they compute."


def create_app(
    service: Service,
    hosts: frozenset[str] | None = None,
    *,
    log_queries: bool = False,
) -> Middleware:
    """Return the application for one index, as a server runs it."""
    return Middleware(application(service), service.limits, hosts, log_queries=log_queries)


def application(service: Service) -> FastAPI:
    """Return the routes without the middleware."""
    app = FastAPI(
        title="mathamr",
        version=__version__,
        description=DESCRIPTION,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.service = service
    for module in (search, explain, similar, posts, formulas, status):
        app.include_router(module.router, prefix=PREFIX, responses=errors())

    app.include_router(notation.answers, prefix=PREFIX, responses=errors())
    app.include_router(notation.router)

    @app.get(f"{PREFIX}/openapi.json", include_in_schema=False)
    async def description() -> Response:
        """Return this description, which takes too long to be made on the event loop."""
        return JSONResponse(await service.compute(app.openapi))

    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(MathAMRError, _mathamr)
    app.add_exception_handler(Exception, _unexpected)
    page = Path(str(files("mathamr.serve") / "page"))
    if page.is_dir():
        app.mount("/", PageFiles(directory=page, html=True), name="page")
    return app


def _response(request: Request, error: ApiError) -> Response:
    body = error.body(request.state.request)
    return Response(body, error.status, dict(error.headers), "application/json")


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    converted = from_status(error.status_code, str(error.detail))
    converted.headers = dict(error.headers or {})
    return _response(request, converted)


async def _validation(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    problems: list[Any] = list(error.errors())
    return _response(request, from_validation(problems))


async def _mathamr(request: Request, error: Exception) -> Response:
    assert isinstance(error, MathAMRError)
    return _response(request, from_error(error))


async def _unexpected(request: Request, _error: Exception) -> Response:
    return _response(request, ApiError("internal", "an internal error; the server's log has the details"))
