"""No route touches the index on the event loop, where a blocked read would delay every other request."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import wraps
from typing import Any

import pytest
from starlette.testclient import TestClient

from mathamr.index.storage import IndexStorage
from mathamr.search.searcher import Index
from mathamr.serve.access import Keys
from mathamr.serve.app import application, create_app
from mathamr.serve.limits import Limits
from mathamr.serve.service import Service
from tests.serve.conftest import WRITE_KEY

PARTS = (
    "catalogue",
    "engine",
    "lexical",
    "graphs",
    "graph",
    "vectors",
    "payloads",
    "reading",
    "settled_state",
)
"""What of an archive reads its files."""
SEARCH = {
    "q": "$x^2$ prime",
    "strategy": "lexical",
    "task": "answers",
    "kind": "question",
    "folder": "serve-index.jsonl",
    "counts": "true",
}
REQUESTS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "/v1/search": [("GET", {"params": SEARCH}), ("POST", {"json": {"q": "prime", "strategy": "lexical"}})],
    "/v1/explain": [("GET", {"params": {"q": "$x$", "id": "{id}"}}), ("POST", {"json": {"q": "x", "id": "{id}"}})],
    "/v1/similar/{id}": [("GET", {})],
    "/v1/posts": [("POST", {"json": {"posts": [{"id": "new", "body": "A new $x$."}]}})],
    "/v1/graphs/{id}": [("GET", {})],
    "/v1/beside/{id}": [("GET", {})],
    "/v1/formulas/{id}": [("GET", {})],
    "/v1/render": [("GET", {"params": {"latex": "\\foo x"}}), ("POST", {"json": {"text": "is $x$ prime"}})],
    "/v1/picture": [("GET", {"params": {"latex": "\\foo x"}})],
    "/v1/commands": [("GET", {})],
    "/v1/introduced": [("GET", {"params": {"latex": "x"}})],
    "/v1/names": [("GET", {"params": {"name": "gaussian integral"}})],
    "/v1/symbols": [("POST", {"json": {"strokes": [[[0, 0], [1, 1], [2, 0]]]}})],
    "/v1/index": [("GET", {})],
    "/v1/health": [("GET", {})],
    "/v1/ready": [("GET", {})],
    "/v1/posts/{id}": [("GET", {}), ("PUT", {"json": {"body": "Another $x$."}}), ("DELETE", {})],
}  # fmt: skip
"""A request to every route, with the parameters that only the index can check."""


def guarded(member: Any) -> Any:
    """A method or property that may not be used on an event loop."""
    inner = member.fget if isinstance(member, property) else member

    @wraps(inner)
    def checked(*args: Any, **kwargs: Any) -> Any:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return inner(*args, **kwargs)
        raise AssertionError(f"{inner.__name__} of the index was used on the event loop")

    return property(checked) if isinstance(member, property) else checked


@pytest.fixture
def service(own_index: Index, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    serving = Service(own_index, Limits(seconds=3600), Keys(write=WRITE_KEY), beside=own_index)
    for kind in {IndexStorage, type(own_index.archive)}:
        for name in PARTS:
            if name in vars(kind):
                monkeypatch.setattr(kind, name, guarded(vars(kind)[name]))
    yield serving
    serving.close()


def test_no_route_touches_the_index_on_the_event_loop(service: Service) -> None:
    with service.archive.reading():
        id = next(iter(service.archive.catalogue.ids()))
        formula = next(iter(service.archive.catalogue.formulas_of(id))).id
    client = TestClient(create_app(service), headers={"X-API-Key": WRITE_KEY}, raise_server_exceptions=False)
    for route, requests in REQUESTS.items():
        for method, options in requests:
            given = {
                kind: {name: id if value == "{id}" else value for name, value in values.items()}
                for kind, values in options.items()
            }
            path = route.replace("{id}", formula if "formulas" in route else id)
            answer = client.request(method, path, **given)
            assert answer.status_code in (200, 201), (method, path, answer.text)


def test_every_route_is_among_them(service: Service) -> None:
    described = application(service).openapi()["paths"]
    known = {
        (route.replace("{id}", "{id:path}"), method.lower())
        for route in REQUESTS
        for method, _ in REQUESTS[route]
    }
    found = {(route, method) for route, methods in described.items() for method in methods}
    assert found in (known, {(route.replace(":path", ""), method) for route, method in known})
