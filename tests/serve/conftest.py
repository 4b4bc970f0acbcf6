"""An index of a part of the sample and of hostile posts, and the application over it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.index.indexing.writer import IndexWriter
from mathamr.search.searcher import Index
from mathamr.serve.access import Keys
from mathamr.serve.app import create_app
from mathamr.serve.limits import Limits
from mathamr.serve.service import Service
from tests.models import model_folder, once_a_run, sample_posts, small_graphs
from tests.serve.hostile import hostile_posts

__all__ = ["model_folder", "small_graphs"]

WRITE_KEY, READ_KEY = "write-" + "w" * 16, "read-" + "r" * 16
QUESTIONS = 8
Serving = Callable[..., TestClient]


@pytest.fixture(scope="session")
def index_folder(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Path:
    """An index of some questions of the sample, their answers, and every hostile post; read-only."""

    def make(folder: Path) -> None:
        posts = folder.with_suffix(".jsonl")
        questions = {post.id for post in sample_posts(QUESTIONS)}
        family = [post for post in sample_posts() if questions & {post.id, post.parent}]
        lines = (post.to_json() for post in [*family, *hostile_posts()])
        posts.write_text("\n".join(lines), encoding="utf-8")
        build_index([posts], folder, BuildOptions(model=model_folder, device="cpu"))

    return once_a_run(tmp_path_factory, "serve-index", make)


@pytest.fixture(scope="session")
def index(index_folder: Path) -> Iterator[Index]:
    """The index, open for reading."""
    with Index.open(index_folder, device="cpu") as opened:
        yield opened


@pytest.fixture
def serving(index: Index) -> Iterator[Serving]:
    """Makes clients of an application over the index, with the limits, keys and hosts of a test."""
    services: list[Service] = []

    def make(
        limits: Limits | None = None,
        keys: Keys | None = None,
        hosts: frozenset[str] | None = None,
        log_queries: bool = False,
        over: Index = index,
    ) -> TestClient:
        service = Service(over, limits or Limits(seconds=3600), keys or Keys())
        services.append(service)
        return TestClient(create_app(service, hosts, log_queries=log_queries), raise_server_exceptions=False)

    yield make
    for service in services:
        service.close()


@pytest.fixture(scope="session")
def client(index: Index) -> Iterator[TestClient]:
    """A client of the application as it is by default, but with time enough for a busy machine."""
    service = Service(index, Limits(seconds=3600))
    yield TestClient(create_app(service), raise_server_exceptions=False)
    service.close()


@pytest.fixture
def own_index(index_folder: Path, tmp_path: Path) -> Iterator[Index]:
    """A copy of the index, open for writing."""
    shutil.copytree(index_folder, tmp_path / "index")
    with Index(IndexWriter.open(tmp_path / "index", device="cpu")) as opened:
        yield opened
