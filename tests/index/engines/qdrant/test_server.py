"""The key of a Qdrant server goes to that server alone, whatever a folder says."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from mathamr.errors import MathAMRError
from mathamr.index.engines.engine import EngineHead, open_engine
from mathamr.index.engines.qdrant.server import ServerEngine, origin
from tests.index.engines.entries import FIELDS

pytest.importorskip("qdrant_client", reason="needs mathamr[qdrant]")


class Listener(ThreadingHTTPServer):
    """A server that only notes what it is told."""

    def __init__(self) -> None:
        self.keys: list[str | None] = []
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Listener

    def do_GET(self) -> None:
        self.server.keys.append(self.headers.get("api-key"))
        self.send_error(404)

    do_POST = do_PUT = do_GET  # noqa: N815

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
    with pytest.raises(MathAMRError):
        ServerEngine.create(tmp_path, FIELDS, {"url": listener.url})
    assert set(listener.keys) == {None}


def test_an_origin_is_scheme_host_and_port() -> None:
    assert origin("http://host") == origin("host:6333") == origin("http://host:6333/a?b") != None  # noqa: E711
    assert len({origin(f"http{s}://{h}:{p}") for s in ("", "s") for h in "ab" for p in (1, 2)}) == 8
    assert origin("") is None
    assert origin("http://a:b") is None
