"""The key of a Qdrant server goes to that server alone; what its makers advise is what it is asked for; busy ones are asked again."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.index.engines.engine import EngineHead, create_engine, open_engine
from mathamr.index.engines.entry import Entry
from mathamr.index.engines.qdrant.server import ServerEngine, origin
from mathamr.systems.vectors import Vectors
from tests.index.engines.entries import FIELDS, SIZE, some_posts

pytestmark = pytest.mark.skipif(not find_spec("qdrant_client"), reason="needs mathamr[qdrant]")


class Listener(ThreadingHTTPServer):
    """A server that notes what it is told, and can make collections and count."""

    def __init__(self) -> None:
        self.keys: list[str | None] = []
        self.made: dict[str, Any] = {}
        self.payload_indexes: set[str] = set()
        self.busy: list[int] = []
        """Statuses with which the next requests are answered."""
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Listener

    def do_GET(self) -> None:
        self.server.keys.append(self.headers.get("api-key"))
        asked = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or "{}")
        if self.server.busy:
            self.send_error(self.server.busy.pop(0))
        elif self.path.endswith("/exists"):
            self.answer({"exists": False})
        elif self.command == "PUT" and "field_name" in asked:
            self.server.payload_indexes.add(asked["field_name"])
            self.answer({"operation_id": 1, "status": "completed"})
        elif self.command == "PUT":
            self.server.made = asked
            self.answer(True)
        elif self.path.endswith("/points/count"):
            self.answer({"count": 7})
        else:
            self.send_error(404)

    do_POST = do_PUT = do_GET  # noqa: N815

    def answer(self, result: object) -> None:
        content = json.dumps({"result": result, "status": "ok", "time": 0}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def listener() -> Iterator[Listener]:
    with Listener() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MATHAMR_QDRANT_API_KEY", "secret")
    monkeypatch.delenv("MATHAMR_QDRANT_URL", raising=False)


def folder_of(tmp_path: Path, url: str) -> Path:
    EngineHead("qdrant", FIELDS, {"url": url, "collection": "c"}).write(tmp_path)
    return tmp_path


@pytest.mark.parametrize("named", ["", "http://qdrant.example:6333", "not a url ]["])
def test_a_folder_does_not_choose_whom_to_speak_with(
    tmp_path: Path, listener: Listener, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    monkeypatch.setenv("MATHAMR_QDRANT_URL", named)
    with pytest.raises(MathAMRError, match="a folder never chooses"):
        open_engine(folder_of(tmp_path, listener.url))
    assert listener.keys == []


def test_the_key_goes_to_the_server_that_the_environment_names(
    tmp_path: Path, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MATHAMR_QDRANT_URL", listener.url + "/")
    with pytest.raises(MathAMRError):
        open_engine(folder_of(tmp_path, listener.url))
    assert set(listener.keys) == {"secret"}


def test_a_server_that_only_an_option_names_gets_no_key(tmp_path: Path, listener: Listener) -> None:
    ServerEngine.create(tmp_path, FIELDS, {"url": listener.url}).close()
    assert set(listener.keys) == {None}


def test_rows_get_no_graph_but_single_vectors_and_filters_do(tmp_path: Path, listener: Listener) -> None:
    options = {"url": listener.url, "shards": 6, "replicas": 2, "consistency": 2}
    ServerEngine.create(tmp_path, FIELDS[:2], options).close()
    made, vectors = listener.made, listener.made["vectors"]
    assert (made["shard_number"], made["replication_factor"], made["write_consistency_factor"]) == (6, 2, 2)
    assert vectors["parts"]["hnsw_config"]["m"] == 0
    assert vectors["parts"]["multivector_config"] == {"comparator": "max_sim"}
    assert vectors["parts"]["on_disk"] is True
    assert vectors["document"]["hnsw_config"]["m"] == 16
    assert listener.payload_indexes == {"kind", "tags", "source", "time", "score", "fields"}


def test_a_busy_server_is_asked_again_and_another_error_is_reported_at_once(
    tmp_path: Path, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mathamr.index.engines.qdrant.server.DELAYS", (0.01, 0.01, 0.01))
    engine = ServerEngine.create(tmp_path, FIELDS[:2], {"url": listener.url})
    listener.busy = [503, 429, 502]
    assert engine.count("posts") == 7
    listener.busy = [500, 500]
    with pytest.raises(MathAMRError, match="Qdrant cannot count posts"):
        engine.count("posts")
    assert listener.busy == [500]
    listener.busy = [503] * 9
    with pytest.raises(MathAMRError, match="Qdrant cannot count posts"):
        engine.count("posts")
    assert len(listener.busy) == 5
    engine.close()


def test_a_post_with_more_numbers_than_a_point_takes_is_refused_before_any_is_stored(tmp_path: Path) -> None:
    engine = create_engine(tmp_path, FIELDS[:2], "qdrant", {"url": "local"})
    many = (1 << 20) // SIZE + 1
    rows = Vectors(np.ones((many, SIZE), np.float32), np.zeros(many, np.int8), ("",) * many)
    with pytest.raises(MathAMRError, match=r"'long' has 131,073 rows .* 131,072 rows here, at most"):
        engine.upsert("posts", [*some_posts(1, 2), Entry("long", {"parts": rows})])
    assert engine.count("posts") == 0
    engine.close()


def test_an_origin_is_scheme_host_and_port() -> None:
    assert origin("http://host") == origin("host:6333") == origin("http://host:6333/a?b") != None  # noqa: E711
    assert len({origin(f"http{s}://{h}:{p}") for s in ("", "s") for h in "ab" for p in (1, 2)}) == 8
    assert origin("") is None
    assert origin("http://a:b") is None
