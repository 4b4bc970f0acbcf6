"""Hubs: told apart by a naive loop, taken back by hand, and left alone where nothing is to be taken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from mathamr.core.arrays import AnyArray, FloatArray
from mathamr.core.errors import MathAMRError
from mathamr.index.engines.engine import Engine, create_engine
from mathamr.index.engines.entry import Entry
from mathamr.index.scored import Scored
from mathamr.posts.level import Level
from mathamr.search.hubness import HUBNESS, hubness, penalise_hubs
from mathamr.search.options import SearchOptions
from mathamr.search.postranker import PostRanker
from mathamr.search.query import Query
from mathamr.search.querycontext import QueryContext, StageTimer
from mathamr.search.results import RankedResult
from mathamr.systems.field import Field
from mathamr.systems.ranking import (
    Component,
    Fuse,
    Lexical,
    Nearest,
    Unhub,
    fields_of,
)
from mathamr.systems.system import Encoded
from mathamr.systems.vectors import Vectors

FIRST = Nearest("one")
QUESTION = "why does every sequence of numbers that is bounded and monotone have a limit in the reals? I tried $x_n$."
SIZE = 8


def unit(rows: AnyArray) -> FloatArray:
    return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True), np.float32)


@pytest.fixture(scope="module")
def rows() -> dict[str, FloatArray]:
    found = unit(np.random.default_rng(3).normal(size=(24, SIZE)) + 0.7)
    return {f"p{number:02}": row for number, row in enumerate(found)}


class Given:
    """The query's one vector."""

    def __init__(self, vector: FloatArray) -> None:
        self._vectors = Vectors.one(vector, Level.DOCUMENT, "q")

    def encoded(self, query: Query, timer: StageTimer) -> Encoded:
        return Encoded(id="q", post={"one": self._vectors})

    def visual(self, *given: object) -> dict[str, Vectors]:
        raise AssertionError("no formula is looked for")


def filled(folder: Path, name: str, rows: dict[str, FloatArray]) -> Engine:
    options = {"url": "local"} if name == "qdrant" else {"dtype": "float32"}
    engine = create_engine(folder, [Field(name="one", of="posts", size=SIZE)], name, options)
    engine.upsert(
        "posts", [Entry(each, {"one": Vectors.one(row, Level.DOCUMENT, each)}) for each, row in rows.items()]
    )
    engine.flush()
    return engine


def ranker(engine: Engine, text: str = QUESTION) -> PostRanker:
    vector = unit(np.ones(SIZE, np.float32) + np.arange(SIZE) / 9)
    return PostRanker(
        QueryContext(Query.of_text(text), Given(vector)), engine, lambda: pytest.fail("no words here")
    )


def test_hubness_is_the_mean_of_the_nearest_others(rows: dict[str, FloatArray]) -> None:
    for neighbours in (1, 5, 23, 100):
        found = hubness(rows, neighbours)
        for each, row in rows.items():
            cosines = sorted(
                (float(row @ other) for name, other in rows.items() if name != each), reverse=True
            )
            assert found[each] == pytest.approx(np.mean(cosines[:neighbours]), abs=2e-6)
    assert hubness({"alone": rows["p00"]}, 10) == {}


def test_a_share_of_the_hubness_is_taken_off_in_standard_deviations() -> None:
    hits = [Scored("a", 4.0), Scored("b", 3.0), Scored("c", 2.0), Scored("d", 1.0)]
    near = {"a": 0.9, "b": 0.5, "c": 0.1, "d": 0.5}
    spread, deviation = np.std([4, 3, 2, 1]), np.std([*near.values()])
    expected = {hit.id: hit.score - 0.5 * spread * (near[hit.id] - 0.5) / deviation for hit in hits}
    found = penalise_hubs(hits, near, 0.5)
    assert dict(found) == pytest.approx(expected)
    assert [hit.id for hit in found] == sorted(expected, key=lambda each: -expected[each])
    unknown = dict(penalise_hubs(hits, {"a": 0.9, "c": 0.1}, 0.5))
    assert (unknown["b"], unknown["d"]) == (3.0, 1.0)
    assert penalise_hubs(hits, dict.fromkeys("abcd", 0.7), 0.5) == hits, "where all are alike nothing changes"
    assert penalise_hubs([], {}, 0.5) == []


@pytest.fixture(params=["flat", "qdrant"])
def engine(request: pytest.FixtureRequest, tmp_path: Path, rows: dict[str, FloatArray]) -> Iterator[Engine]:
    if request.param == "qdrant":
        pytest.importorskip("qdrant_client", reason="needs mathamr[qdrant]")
    made = filled(tmp_path / "engine", request.param, rows)
    yield made
    made.close()


def pairs(found: Sequence[RankedResult | Scored]) -> list[tuple[str, float]]:
    return [(each.id, each.score) for each in found]


def test_the_first_are_ordered_by_what_is_left_of_their_scores(
    engine: Engine, rows: dict[str, FloatArray]
) -> None:
    ranking = Unhub(first=FIRST, field="one", share=0.8, neighbours=3, pool=12)
    plain = ranker(engine).rank(FIRST, SearchOptions(24), "one")
    found = ranker(engine).rank(ranking, SearchOptions(24), "one")
    near = hubness({each.id: rows[each.id] for each in plain[:12]}, 3)
    expected = penalise_hubs([Scored(each.id, each.score) for each in plain[:12]], near, 0.8)
    assert [each.id for each in found[:12]] == [hit.id for hit in expected]
    assert [each.score for each in found[:12]] == pytest.approx([hit.score for hit in expected], abs=1e-5)
    assert [each.id for each in found[:12]] != [each.id for each in plain[:12]], "the data has hubs"
    assert [each.id for each in found[12:]] == [each.id for each in plain[12:]]
    scores = [each.score for each in found]
    assert scores == sorted(scores, reverse=True)
    assert found[0].evidence == {
        "nearest": pytest.approx(dict(pairs(plain))[found[0].id]),
        HUBNESS: pytest.approx(near[found[0].id], abs=1e-5),
    }
    assert HUBNESS not in found[12].evidence
    again = ranker(engine).rank(ranking, SearchOptions(5), "one")
    assert [each.id for each in again] == [each.id for each in found[:5]], (
        "a short page is the start of a long one"
    )
    assert [hit.id for hit in ranker(engine).score(ranking, list(rows))] == [each.id for each in found]


def test_what_is_not_asked_so_and_what_is_few_stays_exactly_as_it_was(engine: Engine) -> None:
    plain = pairs(ranker(engine).rank(FIRST, SearchOptions(24), "one"))
    only = Unhub(first=FIRST, field="one", neighbours=3, pool=12, kinds=("question",))
    assert pairs(ranker(engine, "nowhere dense").rank(only, SearchOptions(24), "one")) == plain
    assert pairs(ranker(engine).rank(only, SearchOptions(24), "one")) != plain
    few = Unhub(first=FIRST, field="one", pool=25)
    assert pairs(ranker(engine).rank(few, SearchOptions(24), "one")) == plain
    assert pairs(ranker(engine).score(only, ["p03"])) == pairs(ranker(engine).score(FIRST, ["p03"]))


def test_a_ranking_without_hubs_is_what_it_was_to_everybody_else() -> None:
    words = Component("words", Lexical())
    both = Unhub(first=Fuse(parts=(words, Component("one", FIRST))), field="other")
    assert list(fields_of(both)) == ["one"], "the query needs no vector of the field that tells hubs"
    for wrong in (
        {"share": 0.0},
        {"share": float("nan")},
        {"pool": 2000},
        {"neighbours": 50},
        {"neighbours": 0},
    ):
        with pytest.raises(MathAMRError, match="Unhub needs 1 <= neighbours < pool <= 1000"):
            Unhub(first=FIRST, field="one", **wrong)
