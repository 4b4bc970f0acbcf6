"""The text encoder reads a text once where one process parses and encodes: the AMR parser's states are those of the vectors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from mathamr.index.indexing import encoding
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.index.indexing.writer import IndexWriter
from mathamr.index.storage import IndexStorage
from mathamr.posts.post import Post
from mathamr.search.searcher import Index
from mathamr.serve.launch import _parser
from mathamr.serve.limits import Limits
from mathamr.text.onnxgraph import OnnxTransformer
from tests.index.small import note, write_posts

MODEL = {"format": 1, "encoder": "joined", "name": "both", "text": "mathamr-3", "graph": "mathamr-2"}
"""A model with a graph network whose text encoder is the parser's."""
ENCODER_SIZE = 384
POSTS = [
    note("one", "Let $x>0$. Then the sum of $x$ and one is positive."),
    note("two", "Every bounded sequence has a convergent subsequence."),
    note("long", "The sum of $a$ and $b$ is even if both of them are odd. " * 40),
]
pytestmark = pytest.mark.slow


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The widths of the windows that text encoders read in this process."""
    found: list[int] = []
    run = OnnxTransformer.run

    def counted(self: OnnxTransformer, *given: np.ndarray) -> list[np.ndarray]:
        if given[0].shape[1] == ENCODER_SIZE:
            found.append(len(given[0]))
        return run(self, *given)

    monkeypatch.setattr(OnnxTransformer, "run", counted)
    return found


def built(folder: Path, posts: list[Post], workers: int = 1) -> Path:
    source = write_posts(folder / "posts.jsonl", posts)
    model = folder / "model"
    model.mkdir()
    shares = dict.fromkeys(("formula", "sentence", "document"), 0.95)
    (model / "config.json").write_text(json.dumps(MODEL | {"shares": shares}), encoding="utf-8")
    options = BuildOptions(model=str(model), engine="flat", parser="builtin", device="cpu", workers=workers)
    build_index([source], folder / "index", options)
    return folder / "index"


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexStorage]:
    """The same posts; few are parsed in another process than they are encoded in."""
    folder = built(tmp_path_factory.mktemp("expected"), POSTS)
    with IndexStorage.open(folder, device="cpu") as archive:
        yield archive


def check(archive: IndexStorage, expected: IndexStorage) -> None:
    for field in archive.manifest.model.fields:
        if field.of == "posts":
            for post in POSTS:
                found, wanted = (each.vectors(post.id, field.name) for each in (archive, expected))
                # The graph network's rounding depends on the posts that are encoded together.
                np.testing.assert_allclose(found.vectors, wanted.vectors, atol=1e-6)


def test_a_build_with_one_worker_parses_and_encodes_in_one_process(
    tmp_path: Path, runs: list[int], expected: IndexStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding, "FEW", 2)
    monkeypatch.setattr("mathamr.graphs.guarded.GuardedGraphs.__call__", None)  # the other way to graphs
    runs.clear()
    folder = built(tmp_path, POSTS)
    assert runs == []
    with IndexStorage.open(folder, device="cpu") as archive:
        check(archive, expected)


def test_queries_are_read_once_and_posts_that_are_added_equal_those_that_are_built(
    tmp_path: Path, runs: list[int], expected: IndexStorage
) -> None:
    folder = built(tmp_path, POSTS[:1])
    index = Index(IndexWriter.open(folder, device="cpu"))
    with index, _parser(index, Limits()) as parser:
        assert parser is None, "a server parses with the built-in parser in its own process"
        index.warm()
        assert isinstance(index.archive, IndexWriter)
        index.archive.put(POSTS[1:])
        check(index.archive, expected)
        runs.clear()
        index.search("Why is the sum of $x^2$ and two odd numbers even?", "answers", k=2)
        assert len(runs) == 1
