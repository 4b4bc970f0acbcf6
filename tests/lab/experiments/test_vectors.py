"""Vectors of an experiment: in an engine as an index has them, and the same again in another engine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.index.engines.engine import open_engine
from mathamr.index.engines.entry import Entry, Payload
from mathamr.posts.level import Level
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post
from mathamr.search.query import Query
from mathamr.search.querycontext import StageTimer
from mathamr.systems.field import Field
from mathamr.systems.vectors import Vectors
from mathamr_lab.experiments.setting import EXACT
from mathamr_lab.experiments.vectors import OPTIONS, TOPICS, StoredQueries, copy_into, engine_in

FIELDS = (
    Field(name="document", of="posts", size=3),
    Field(name="parts", of="posts", size=3, many=True),
    Field(name="formula", of="formulas", size=3),
)


def rows(*vectors: tuple[float, float, float], level: Level = Level.SENTENCE) -> Vectors:
    unit = np.array(vectors, np.float32)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    return Vectors(unit, np.full(len(unit), level, np.int8), tuple(str(place) for place in range(len(unit))))


def fill(folder: Path, post: str, formula: str) -> None:
    with engine_in(folder, EXACT, FIELDS) as engine:
        one = rows((1, 0, 0), level=Level.DOCUMENT)
        engine.upsert(
            "posts", [Entry(post, {"document": one, "parts": rows((1, 1, 0), (0, 0, 1))}, Payload())]
        )
        engine.upsert(
            "formulas", [Entry(formula, {"formula": rows((0, 1, 0), level=Level.FORMULA)}, Payload())]
        )
        engine.flush()


def test_another_engine_gets_the_same_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("qdrant_client", reason="needs mathamr[qdrant]")
    fill(tmp_path / EXACT, "a", "a:0")
    monkeypatch.setitem(OPTIONS, "qdrant", {"url": "local"})
    assert copy_into(tmp_path, "qdrant")["bytes on disk"] > 0
    before, after = (
        open_engine(tmp_path / EXACT, read_only=True),
        open_engine(tmp_path / "qdrant", read_only=True),
    )
    try:
        for field in FIELDS:
            assert set(after[field.name].ids()) == set(before[field.name].ids())
            for name, vectors in before[field.name].fetch(["a", "a:0"]).items():
                again = after[field.name].fetch([name])[name]
                np.testing.assert_allclose(again.vectors, vectors.vectors, atol=1e-3)
                assert again.references == vectors.references
                assert again.levels.tolist() == vectors.levels.tolist()
    finally:
        before.close()
        after.close()


def test_a_topic_gets_its_stored_vectors_back(tmp_path: Path) -> None:
    fill(tmp_path / TOPICS, "task1/A.1", "task1/A.1 q:0")
    post = Post(
        "task1/A.1", "question", "Is $x$ real?", markup="text", formulas=formulas_of("q", "", "$x$", "text")
    )
    engine = open_engine(tmp_path / TOPICS, read_only=True)
    try:
        encoded = StoredQueries(engine).encoded(Query.of_post(post), StageTimer())
        assert encoded.post["parts"].vectors.shape == (2, 3)
        assert [name for name, _ in encoded.formulas] == ["q:0"]
        with pytest.raises(MathAMRError, match="no vectors of visual classes"):
            StoredQueries(engine).visual(Query.of_post(post), post.formulas[0], StageTimer())
    finally:
        engine.close()


def test_an_engine_that_could_not_be_filled_is_not_left_behind(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), engine_in(tmp_path / "broken", EXACT, FIELDS):
        raise RuntimeError("while it was filled")
    assert not (tmp_path / "broken").exists()
