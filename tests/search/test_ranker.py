"""The interpreter: what fusions, reranking and what follows mean, without an index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.index.engines.engine import create_engine
from mathamr.index.engines.entry import Entry
from mathamr.index.lexical.lexicalindex import LexicalPart
from mathamr.index.scored import Scored
from mathamr.search.fusion import FUSIONS, WeightedSum
from mathamr.search.options import SearchOptions
from mathamr.search.query import Query
from mathamr.search.querycontext import QueryContext
from mathamr.search.ranker import FoundHits, Leaf, Ranker, filtered, followed, of_rows
from mathamr.search.results import RankedResult
from mathamr.systems.field import Field
from mathamr.systems.ranking import (
    Aligned,
    Component,
    Fuse,
    Inherit,
    MaxSim,
    Nearest,
    NearestRows,
    Promote,
    Ranking,
    Rerank,
    fields_of,
    uses_words,
)
from mathamr.systems.vectors import Vectors
from tests.cases import cases

RANKINGS = {
    "words": [Scored("a", 9.0), Scored("b", 3.0), Scored("c", 1.0)],
    "one": [Scored("c", 0.9), Scored("a", 0.2)],
    "many": [Scored("b", 0.8), Scored("c", 0.5), Scored("d", 0.1)],
}


class Listed(Ranker):
    """Finds what is listed for a field; asks no index."""

    task = "answers"

    def __init__(self, text: str = "x") -> None:
        asked = QueryContext(Query.of_text(text), None)  # type: ignore[arg-type]
        super().__init__(asked, None, None, lambda of, ids: {})  # type: ignore[arg-type]
        self.asked_for: list[tuple[str, int]] = []

    def _by_field(self, leaf: Nearest | MaxSim | NearestRows, options: SearchOptions) -> list[Scored]:
        self.asked_for.append((leaf.field, options.depth))
        return RANKINGS[leaf.field][: options.depth]

    def _by_words(self, lexicon: LexicalPart, options: SearchOptions) -> list[Scored]:
        raise AssertionError("no ranking here asks for words")

    def _field_scores(self, name: str, ids: Sequence[str], query_field: str) -> list[Scored]:
        return [hit for hit in RANKINGS[name] if hit.id in ids]

    @cached_property
    def _leaves(self) -> Mapping[type, Leaf]:
        return {**super()._leaves, Aligned: Leaf(None, lambda _, ids: self._aligned(ids))}

    def _aligned(self, ids: Sequence[str]) -> list[Scored]:
        return [Scored(each, 1.0 / place) for place, each in enumerate(sorted(ids), 1)]

    def _promoted(self, ranking: Promote, found: FoundHits) -> FoundHits:
        return FoundHits(sorted(found.hits, key=lambda hit: hit.id != "c"), found.evidence)

    def _finished(self, found: FoundHits, options: SearchOptions) -> list[RankedResult]:
        return [RankedResult(hit.id, hit.score, found.of(hit.id)) for hit in found.hits[: options.depth]]


def ids(ranking: Ranking, depth: int = 10, pool: int = 1000) -> list[str]:
    return [each.id for each in Listed().rank(ranking, SearchOptions(depth, pool=pool), "it")]


@cases("fusion", list(FUSIONS))
def test_every_fusion_is_known_by_its_name_and_parts_of_weight_0_are_not_asked(fusion: str) -> None:
    ranker = Listed()
    parts = (
        Component("first", Nearest("words")),
        Component("second", Nearest("one"), 0.5),
        Component("third", MaxSim("many"), 0.0),
    )
    found = ranker.rank(Fuse(parts=parts, fusion=fusion), SearchOptions(10), "it")
    assert sorted(each.id for each in found) == ["a", "b", "c"]
    assert found[0].id == "a"
    assert found[0].evidence == {"first": 9.0, "second": 0.2}
    assert ranker.asked_for == [("words", 1000), ("one", 1000)], "each part brings its candidates"


def test_the_normalisation_is_that_of_the_ranking() -> None:
    for name in ("min-max", "top", "z", "none"):
        parts = (Component("words", Nearest("words")), Component("one", Nearest("one"), 3.0))
        found = Listed().rank(
            Fuse(parts=parts, fusion="weighted-sum", normalisation=name), SearchOptions(10), "it"
        )
        expected = WeightedSum(name)([RANKINGS["words"], RANKINGS["one"]], [1.0, 3.0])
        assert [Scored(each.id, each.score) for each in found] == expected


def test_a_fusion_needs_parts_that_count_and_names_that_differ() -> None:
    with pytest.raises(MathAMRError, match="weight above 0"):
        Fuse(parts=(Component("one", Nearest("one"), 0.0),))
    with pytest.raises(MathAMRError, match="different names"):
        Fuse(parts=(Component("one", Nearest("one")), Component("one", Nearest("words"))))


def test_reranking_orders_the_pool_of_the_first_by_the_second() -> None:
    again = Rerank(first=Nearest("words"), then=MaxSim("many"))
    assert ids(again) == ["b", "c"], "a has no score by the second, d is not found by the first"
    assert ids(again, depth=1, pool=1) == []
    assert ids(Rerank(first=Nearest("words"), then=MaxSim("many"), pool=2)) == ["b"]


def test_what_is_not_reranked_follows_below() -> None:
    kept = Rerank(first=Nearest("words"), then=MaxSim("many"), pool=2, keeps_rest=True)
    found = Listed().rank(kept, SearchOptions(10), "it")
    assert [each.id for each in found] == ["b", "c"]
    assert found[0].score > found[1].score
    assert followed([], [Scored("b", 0.9)]) == [Scored("b", 0.9)]


def test_scores_of_given_results_follow_the_same_ranking() -> None:
    ranker = Listed()
    fused = Fuse(parts=(Component("words", Nearest("words")), Component("one", Nearest("one"))), fusion="rrf")
    assert [hit.id for hit in ranker.score(fused, ["a", "c"])] == ["a", "c"]
    assert [hit.id for hit in ranker.score(Rerank(first=fused, then=MaxSim("many")), ["d", "c"])] == [
        "c",
        "d",
    ]
    assert [hit.id for hit in ranker.score(Promote(Nearest("words")), ["a", "c"])] == ["c", "a"]
    assert ranker.score(fused, []) == []


def test_a_ranking_says_which_fields_it_reads_and_whether_words_count() -> None:
    ranking = Promote(Rerank(first=NearestRows("one"), then=Fuse(parts=(Component("m", MaxSim("many")),))))
    assert list(fields_of(ranking)) == ["one", "many"]
    assert not uses_words(ranking)


@pytest.mark.parametrize("exact", [True, False])
def test_rows_bring_their_entries_by_their_best(tmp_path: Path, exact: bool) -> None:
    field = Field(name="nodes", of="visual", size=2, many=True)
    nodes = {"a": [[1, 0], [0.6, 0.8]], "b": [[0.8, 0.6]], "c": [[-1, 0], [0.6, -0.8]]}
    engine = create_engine(tmp_path / "engine", [field], "flat", {"dtype": "float32"})
    engine.upsert(
        "visual",
        [
            Entry(
                name,
                {
                    "nodes": Vectors(
                        np.array(rows, np.float32), np.zeros(len(rows), np.int8), tuple("xy"[: len(rows)])
                    )
                },
            )
            for name, rows in nodes.items()
        ],
    )
    query = np.array([[0.8, 0.6], [0, -1]], np.float32)
    found = of_rows(engine["nodes"], query, 1, None, exact=exact)
    engine.close()
    assert [(hit.id, round(hit.score, 4)) for hit in found] == [("b", 1.0), ("c", 0.8)]


def test_trees_are_aligned_of_what_was_found_and_evidence_stays() -> None:
    again = Fuse(parts=(Component("words", Nearest("words")), Component("trees", Aligned())), fusion="rrf")
    found = Listed().rank(Rerank(first=Nearest("words"), then=again), SearchOptions(10), "it")
    assert found[0].evidence == {"words": 9.0, "trees": 1.0}
    assert [each.id for each in found] == ["a", "b", "c"]
    with pytest.raises(MathAMRError, match="can only rerank: write Rerank"):
        ids(Aligned())


def test_what_is_no_ranking_of_the_task_is_refused_by_name() -> None:
    for wrong, said in ((Inherit(first=Nearest("words")), "by the parents of posts"), (7, "of the type int")):
        with pytest.raises(MathAMRError, match=f"a ranking {said} cannot rank"):
            ids(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(("share", "expected"), [(1 / 50, [500]), (1.0, [10, 40, 160, 640])])
def test_a_filtered_search_asks_for_as_many_as_probably_pass_and_for_more_until_there_are_enough(
    share: float, expected: list[int]
) -> None:
    every = [Scored(str(number), -float(number)) for number in range(1000)]
    asked: list[int] = []

    def search(k: int) -> list[Scored]:
        asked.append(k)
        return every[:k]

    found = filtered(search, 5, share, lambda few: {each for each in few if int(each) % 50 == 0})
    assert [hit.id for hit in found] == ["0", "50", "100", "150", "200"]
    assert asked == expected
    assert filtered(search, 5, 0.0, set) == []


def test_a_fusion_weighs_its_parts_by_what_is_asked_with() -> None:
    both = Fuse(
        parts=(
            Component("first", Nearest("words"), 1.0, (("formula", 0.0),)),
            Component("second", Nearest("one"), 0.1, (("formula", 1.0),)),
        )
    )

    def first(text: str) -> tuple[str, list[str]]:
        ranker = Listed(text)
        found = ranker.rank(both, SearchOptions(10), "it")
        assert next(hit.id for hit in ranker.score(both, ["a", "c"])) == found[0].id
        return found[0].id, [field for field, _ in ranker.asked_for]

    assert first("nowhere dense") == ("a", ["words", "one"])
    assert first("$x^2$") == ("c", ["one"])
    with pytest.raises(MathAMRError, match="for every kind of query"):
        Fuse(parts=(Component("first", Nearest("words"), 1.0, (("name", 0.0),)),))
