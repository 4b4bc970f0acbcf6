"""What one part of the server waits for holds up nothing else: the index's lock, the disk, the AMR parser."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from mathamr.core.workers import WorkLimits
from mathamr.graphs.guarded import GuardedGraphs
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.search.searcher import Index
from mathamr.serve.access import Keys
from mathamr.serve.limits import Limits
from mathamr.serve.routes import search as search_routes
from mathamr.systems.text.system import TextSystem
from tests.index.small import note, write_posts
from tests.serve.conftest import WRITE_KEY
from tests.serve.site import Site, serving
from tests.serve.test_server import answered, connected, healthy
from tests.text.small import small_text_encoder

PATIENCE = 120.0
"""Seconds after which a test gives up; nothing here takes as long unless it hangs."""
UNLOCKED = ("/v1/health", "/v1/render?latex=x^2", "/v1/render?text=a+$x$", "/v1/picture?latex=x", "/v1/commands",
            "/", "/app.js", "/v1/openapi.json")  # fmt: skip
"""Addresses that are answered whatever the index does."""
LOCKED = ("/v1/search?q=prime&strategy=lexical", "/v1/search?q=prime&strategy=lexical&folder=posts.jsonl",
          "/v1/explain?q=prime&id=1", "/v1/posts/1", "/v1/graphs/1", "/v1/formulas/1", "/v1/index", "/v1/ready")  # fmt: skip
"""Addresses that read the index."""


@pytest.fixture
def site(own_index: Index) -> Iterator[Site]:
    limits = Limits(seconds=PATIENCE, head_seconds=PATIENCE, workers=2)
    with serving(own_index, Keys(WRITE_KEY), limits) as running:
        yield running


def fetched(site: Site, path: str) -> int:
    return httpx.get(site.url.rstrip("/") + path, timeout=PATIENCE).status_code


@contextmanager
def held(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, request: Callable[[], int], status: int = 200
) -> Iterator[None]:
    """Stops a request in a function of the server while the test asks for other things, and then lets it end."""
    begun, release, function = threading.Event(), threading.Event(), getattr(owner, name)

    def blocked(*given: Any) -> Any:
        begun.set()
        release.wait(PATIENCE)
        return function(*given)

    monkeypatch.setattr(owner, name, blocked)
    with ThreadPoolExecutor(1) as client:
        slow = client.submit(request)
        try:
            assert begun.wait(PATIENCE)
            yield
            assert not slow.done()
        finally:
            release.set()
        assert slow.result(PATIENCE) == status


def put(site: Site) -> int:
    body, headers = {"body": "A zebra, $z^9$."}, {"X-API-Key": WRITE_KEY}
    return httpx.put(f"{site.url}v1/posts/fresh", json=body, headers=headers, timeout=PATIENCE).status_code


def test_while_the_parser_reads_a_query_all_else_is_answered(
    site: Site, own_index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = "/v1/search?q=a+query+for+the+parser&strategy=maxsim"
    with held(monkeypatch, own_index._parser(), "parse", lambda: fetched(site, query)):
        assert not own_index.archive.encoding.locked(), "another query can be encoded"
        for path in (*UNLOCKED, "/v1/search?q=prime&strategy=lexical", "/v1/posts/nosuch", "/v1/index"):
            assert fetched(site, path) in (200, 404), path


def test_while_a_write_makes_graphs_and_vectors_searches_are_answered(
    site: Site, own_index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    with held(monkeypatch, own_index.archive.system, "encode", lambda: put(site), 201):
        for path in (*UNLOCKED, LOCKED[0], "/v1/posts/nosuch", "/v1/index", "/v1/ready"):
            assert fetched(site, path) in (200, 404), path
        assert fetched(site, "/v1/posts/fresh") == 404, "nothing of the write is visible yet"
    assert fetched(site, "/v1/posts/fresh") == 200


def test_while_the_description_of_the_api_keeps_one_waiting_others_are_answered(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    with held(monkeypatch, FastAPI, "openapi", lambda: fetched(site, "/v1/openapi.json")):
        for other in ("/v1/health", "/v1/render?latex=x", "/v1/search?q=prime&strategy=lexical"):
            assert fetched(site, other) == 200, other


def test_while_a_write_starts_the_process_of_the_parser_searches_are_answered(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    with held(monkeypatch, GuardedGraphs, "take", lambda: put(site), 201):
        assert fetched(site, "/v1/search?q=prime&strategy=maxsim") == 200


@pytest.fixture
def text_index(tmp_path: Path) -> Iterator[Index]:
    """An index whose model reads no graphs, so that a graph is made when somebody looks at it."""
    TextSystem(small_text_encoder(projection=8), "small").save(tmp_path / "model")
    posts = write_posts(tmp_path / "posts.jsonl", [note("plain", "A prime."), note("much", "$a$ " * 4000)])
    build_index([posts], tmp_path / "index", BuildOptions(model=tmp_path / "model", device="cpu"))
    with Index.open(tmp_path / "index", device="cpu") as opened:
        yield opened


def test_while_a_graph_is_made_searches_and_other_reads_are_answered(
    text_index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = Limits(seconds=PATIENCE, head_seconds=PATIENCE, workers=1)
    with (
        serving(text_index, limits=limits) as site,
        held(monkeypatch, GuardedGraphs, "__call__", lambda: fetched(site, "/v1/graphs/plain")),
    ):
        for path in (*UNLOCKED, "/v1/search?q=prime&strategy=maxsim", "/v1/posts/plain", "/v1/index"):
            assert fetched(site, path) == 200, path


def test_a_graph_that_takes_too_much_to_make_is_refused_and_not_tried_again(
    text_index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mathamr.index.storage.DRAWING", WorkLimits(timeout=600.0, processor=1.0))
    with serving(text_index) as site:
        first = httpx.get(f"{site.url}v1/graphs/much", timeout=PATIENCE)
        assert (first.status_code, first.json()["error"]["code"]) == (422, "too_complex")
        assert "takes more work than is allowed" in first.json()["error"]["message"]
        monkeypatch.setattr(GuardedGraphs, "__call__", None)
        again = httpx.get(f"{site.url}v1/graphs/much", timeout=PATIENCE)
        assert again.json()["error"]["message"] == first.json()["error"]["message"]


def test_above_the_limit_on_connections_health_is_answered_and_the_rest_refused_at_once(
    own_index: Index,
) -> None:
    limits = Limits(connections=2, seconds=PATIENCE, head_seconds=PATIENCE, workers=1)
    search = b"GET /v1/search?q=prime HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with serving(own_index, limits=limits) as site, site.busy(), ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(connected(site.port)).sendall(search)
        while site.service.searches.taken < 3:
            threading.Event().wait(0.01)
        for _ in range(3):
            assert healthy(site.port)
            refused = answered(site.port, search)
            assert refused.startswith(b"HTTP/1.1 429 ")
            assert b"retry-after: 1\r\n" in refused.lower()


def test_a_formula_that_cannot_be_marked_loses_only_its_marks(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("marking failed")

    query = {"q": r"\sum_{j=1}^\infty\frac{1}{j^2}", "task": "formulas", "strategy": "lexical", "k": "3"}
    marked = httpx.get(f"{site.url}v1/search", params=query, timeout=PATIENCE).json()["hits"]
    monkeypatch.setattr(search_routes, "draw_marked", broken)
    site.service.answers.clear()
    response = httpx.get(f"{site.url}v1/search", params=query, timeout=PATIENCE)
    assert response.status_code == 200
    hits = response.json()["hits"]
    assert [hit["id"] for hit in hits] == [hit["id"] for hit in marked]
    for hit in hits:
        assert hit["formula"]["mathml"].startswith("<math")
        assert "math-matched" not in hit["formula"]["mathml"]
