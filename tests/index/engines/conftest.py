"""Every engine in turn, empty or filled, for the contract of the seam."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mathamr.core.settings import QDRANT_API_KEY, QDRANT_URL
from mathamr.index.engines.engine import Engine
from tests.index.engines.entries import ON_SERVER, VARIANTS, create, some_entries, some_posts


@pytest.fixture(scope="session", autouse=True)
def clean_server() -> Iterator[None]:
    """Leaves nothing on a real server."""
    yield
    if "qdrant-server" in VARIANTS:
        from qdrant_client import QdrantClient

        client = QdrantClient(url=QDRANT_URL.value, api_key=QDRANT_API_KEY.value or None)
        for collection in client.get_collections().collections:
            if collection.name.startswith(ON_SERVER):
                client.delete_collection(collection.name)


@pytest.fixture(params=list(VARIANTS))
def variant(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def engine(variant: str, tmp_path: Path) -> Iterator[Engine]:
    engine = create(variant, tmp_path / "engine")
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An engine for reading alone, shared by the tests that only search: some entries flushed, some not yet."""
    engine = create(request.param, tmp_path_factory.mktemp("filled") / "engine")
    posts, formulas = some_posts(1, 60), some_entries("formulas", 2, 50)
    engine.upsert("posts", posts[:40])
    engine.upsert("visual", some_entries("visual", 3, 40))
    engine.upsert("formulas", formulas[:30])
    engine.flush()
    engine.upsert("posts", posts[40:])
    engine.upsert("formulas", formulas[30:])
    yield engine
    engine.close()


@pytest.fixture
def local(variant: str, tmp_path: Path) -> Path:
    """The folder of an engine that keeps its vectors there, closed, with 20 posts."""
    engine = create(variant, tmp_path / "engine")
    engine.upsert("posts", some_posts(1, 20))
    engine.close()
    return tmp_path / "engine"
