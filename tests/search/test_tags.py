"""Answers are found by the tags of their questions, whatever came first and whatever changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mathamr import Filter, Index
from mathamr.index.indexing.writer import IndexWriter
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post
from tests.index.small import build


def post(identifier: str, kind: str, body: str, **more: object) -> Post:
    formulas = formulas_of(identifier, "", body, "text")
    return Post(identifier, kind, body, markup="text", formulas=formulas, **more)  # type: ignore[arg-type]


QUESTION = post("q", "question", "Why is $x^2$ positive?", tags=("algebra",))
ANSWER = post("a", "answer", "A square $x^2$ is never negative.", parent="q")
OTHER = post("b", "answer", "Look at $y+z$ instead.", parent="q", tags=("geometry",))


@pytest.fixture
def archive(tmp_path: Path, model_folder: Path) -> IndexWriter:
    build(tmp_path / "index", [ANSWER, OTHER], model_folder)
    return IndexWriter.open(tmp_path / "index", device="cpu")


def found(archive: IndexWriter, tag: str) -> dict[str, set[str]]:
    index = Index(archive)
    where = Filter(tags=(tag,))
    return {
        strategy: {hit.id for hit in index.search("square $x^2$", strategy=strategy, where=where)}
        for strategy in ("lexical", "maxsim")
    } | {"formulas": {hit.id for hit in index.search("$x^2$", "formulas", where=where)}}


def test_tags_follow_the_question(archive: IndexWriter) -> None:
    with archive:
        assert found(archive, "algebra") == {"lexical": set(), "maxsim": set(), "formulas": set()}
        archive.put([QUESTION])
        tagged = found(archive, "algebra")
        assert tagged["lexical"] == tagged["maxsim"] == {"q", "a"}
        assert len(tagged["formulas"] & {"q", "a"}) == 1
        archive.put([replace(QUESTION, tags=("order",))])
        assert found(archive, "algebra")["maxsim"] == set()
        assert found(archive, "order")["maxsim"] == {"q", "a"}
        assert found(archive, "geometry")["maxsim"] == {"b"}
        archive.delete(["q"])
        assert found(archive, "order")["maxsim"] == set()
        assert found(archive, "geometry")["maxsim"] == {"b"}
