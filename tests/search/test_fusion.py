"""Every fusion keeps one contract, and does what its name says."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.core.storage.raggedarrays import Strings
from mathamr.index.scored import EntryNames, Scored, ScoredRows
from mathamr.search.fusion import (
    FUSIONS,
    NORMALISATIONS,
    HarmonicMean,
    JoinedRankings,
    Maximum,
    Mean,
    ReciprocalRankFusion,
    ScoredReciprocalRank,
    WeightedSum,
    fuse,
)
from tests.cases import cases

WORDS = [Scored("a", 10.0), Scored("b", 6.0), Scored("c", 2.0)]
VECTORS = [Scored("b", 0.8), Scored("d", 0.7), Scored("a", 0.4)]

RANKINGS = st.lists(
    st.dictionaries(st.sampled_from("abcdefg"), st.floats(-5, 5), max_size=6).map(
        lambda scores: [
            Scored(item, score)
            for item, score in sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
        ]
    ),
    max_size=4,
)


def scores(hits: Sequence[Scored]) -> dict[str, float]:
    return {hit.id: hit.score for hit in hits}


@pytest.mark.parametrize("name", list(FUSIONS))
@settings(max_examples=30)
@given(rankings=RANKINGS)
def test_everything_is_ranked_once_and_in_a_fixed_order(name: str, rankings: list[list[Scored]]) -> None:
    found = fuse(name, rankings)
    assert sorted(hit.id for hit in found) == sorted({hit.id for ranking in rankings for hit in ranking})
    assert all(math.isfinite(hit.score) for hit in found)
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    assert scores(fuse(name, rankings[::-1])) == pytest.approx(scores(found))
    assert fuse(name, rankings, k=2) == found[:2]


def names_of(*segments: str) -> EntryNames:
    """Return names of letters that are in memory."""
    columns = [Strings.of(segment) for segment in segments]
    for column in columns:
        for _ in range(2):
            column.some(np.arange(len(column)))
    return EntryNames(columns)


@pytest.mark.parametrize("name", list(FUSIONS))
@settings(max_examples=30)
@given(rankings=RANKINGS)
def test_rows_are_fused_like_ids(name: str, rankings: list[list[Scored]]) -> None:
    # The first name of "a" is that of an entry which was replaced; the last part lacks "c".
    parts = (names_of("ca", "gfeadb"), names_of("abcdefg"), names_of("gfe", "abd"))
    assert parts[0].is_read
    rows: list[Sequence[Scored]] = []
    for number, ranking in enumerate(rankings):
        ids, names = [hit.id for hit in ranking], parts[number % 3]
        own = names.find(ids)
        known = np.array([hit.score for hit in ranking], np.float64)
        rows.append(ScoredRows(names, own, known) if (own >= 0).all() else ranking)
    assert fuse(name, rows) == fuse(name, rankings)
    assert fuse(name, rows, k=2) == fuse(name, rankings, k=2)


@cases("name", list(FUSIONS))
def test_one_ranking_alone_keeps_its_order(name: str) -> None:
    assert [hit.id for hit in fuse(name, [WORDS])] == ["a", "b", "c"]


@cases("name", list(FUSIONS))
def test_a_ranking_without_weight_says_nothing(name: str) -> None:
    found = [hit.id for hit in fuse(name, [WORDS, VECTORS], [1.0, 0.0])]
    assert [item for item in found if item != "d"] == ["a", "b", "c"]


@cases("name", list(FUSIONS))
def test_what_both_put_first_is_first(name: str) -> None:
    both = [[Scored("x", 12.0), *WORDS[1:]], [Scored("x", 0.9), *VECTORS[:2]]]
    assert fuse(name, both)[0].id == "x"


@cases("name", list(FUSIONS))
@cases("factor", [0.5, 3.0])
def test_the_scale_of_a_systems_scores_makes_no_difference(name: str, factor: float) -> None:
    scaled = [Scored(hit.id, factor * hit.score) for hit in WORDS]
    assert scores(fuse(name, [scaled, VECTORS])) == pytest.approx(scores(fuse(name, [WORDS, VECTORS])))


def test_reciprocal_ranks_equal_their_formula() -> None:
    found = scores(ReciprocalRankFusion()([WORDS, VECTORS]))
    assert found == pytest.approx({"a": 1 / 61 + 1 / 63, "b": 1 / 62 + 1 / 61, "c": 1 / 63, "d": 1 / 62})
    found = scores(ReciprocalRankFusion(0)([WORDS, VECTORS], [1.0, 3.0]))
    assert found == pytest.approx({"a": 1 + 1, "b": 1 / 2 + 3, "c": 1 / 3, "d": 3 / 2})


def test_scored_reciprocal_ranks_equal_their_formula() -> None:
    found = scores(ScoredReciprocalRank()([WORDS, VECTORS]))
    expected = {"a": 1 / 61 + 0.5 / 63, "b": 0.6 / 62 + 1 / 61, "c": 0.2 / 63, "d": 0.875 / 62}
    assert found == pytest.approx(expected)


def test_mean_maximum_and_harmonic_mean_of_normalised_scores() -> None:
    assert scores(Mean()([WORDS, VECTORS])) == pytest.approx({"a": 0.5, "b": 0.75, "c": 0, "d": 0.375})
    assert scores(WeightedSum()([WORDS, VECTORS], [2.0, 1.0])) == pytest.approx(
        {"a": 2, "b": 2, "c": 0, "d": 0.75}
    )
    assert scores(Maximum()([WORDS, VECTORS], [1.0, 0.5])) == pytest.approx(
        {"a": 1, "b": 0.5, "c": 0, "d": 0.375}
    )
    found = HarmonicMean("top")([WORDS, VECTORS])
    assert scores(found) == pytest.approx({"a": 2 * 1 * 0.5 / 1.5, "b": 2 * 0.6 * 1 / 1.6, "c": 0, "d": 0})
    assert [hit.id for hit in found] == ["b", "a", "d", "c"]


@cases(
    ("name", "expected"),
    [
        ("min-max", [1.0, 0.5, 0.0]),
        ("top", [1.0, 0.6, 0.2]),
        ("z", [8 / math.sqrt(32 / 3), 4 / math.sqrt(32 / 3), 0.0]),
        ("none", [10.0, 6.0, 2.0]),
    ],
)
def test_normalisations(name: str, expected: list[float]) -> None:
    assert NORMALISATIONS[name](np.array([10.0, 6.0, 2.0])).tolist() == pytest.approx(expected)


@pytest.mark.parametrize("name", [name for name in NORMALISATIONS if name != "none"])
def test_equal_scores_are_normalised_to_one(name: str) -> None:
    assert NORMALISATIONS[name](np.array([0.0, 0.0])).tolist() == [1.0, 1.0]


def test_a_bounded_score_is_half_of_what_the_others_say_and_less_than_a_sure_one() -> None:
    words = [Scored("agrees", 3.0), Scored("alike", 1.0), Scored("has", 0.5)]
    meaning = [Scored("agrees", 3.0), Scored("alike", 1.0)]
    formulas = [Scored("alike", 4.0), Scored("has", 0.2), Scored("agrees", 0.1), Scored("other", 3.0)]
    weights, is_sure = [1.0, 1.0, 4.0], np.array([False, True, False, False])
    joined = JoinedRankings.of([words, meaning, formulas])
    assert fuse("weighted-sum", joined, weights, 1, "none")[0].id == "alike"
    bounded = joined.bounded(2, is_sure, weights, "none")
    *_, (_, scores, _) = bounded.weighed(weights, "none")
    assert scores.tolist() == [0.5, 0.5, 0.1, 0.0]
    ranked = [hit.id for hit in fuse("weighted-sum", bounded, weights, None, "none")]
    assert ranked == ["agrees", "alike", "has", "other"]
    assert bounded.scores_of(["alike"]) == joined.scores_of(["alike"])


@pytest.mark.parametrize("is_sure", [[True], [False]])
def test_nothing_is_bounded_by_nothing(is_sure: list[bool]) -> None:
    joined = JoinedRankings.of([[], [Scored("a", 2.0)]])
    bounded = joined.bounded(1, np.array(is_sure), [0.0, 1.0], "none")
    assert fuse("weighted-sum", bounded, [0.0, 1.0], None, "none") == [Scored("a", 2.0)]


def test_an_item_twice_in_a_ranking_counts_where_it_stands_first() -> None:
    twice = [Scored("a", 3.0), Scored("b", 2.0), Scored("a", 1.0)]
    assert scores(ReciprocalRankFusion()([twice])) == pytest.approx({"a": 1 / 61, "b": 1 / 62})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fuse("rrf", [WORDS], [1.0, 2.0]), "1 rankings need 1 weights, got 2"),
        (lambda: fuse("mean", [WORDS], [-1.0]), "at least 0, got -1"),
        (lambda: fuse("max", [WORDS], [math.nan]), "at least 0, got nan"),
        (lambda: fuse("f1", [[Scored("a", math.inf)]]), "'a' in a ranking is not finite"),
    ],
)
def test_impossible_requests_are_clear_errors(call: Callable[[], object], message: str) -> None:
    with pytest.raises(MathAMRError, match=message):
        call()


def test_unknown_names_list_the_known() -> None:
    with pytest.raises(UnknownNameError, match="known: rrf, score-rrf, max, mean, f1, weighted-sum"):
        fuse("vote", [WORDS])
    with pytest.raises(UnknownNameError, match="known: min-max, top, z, none"):
        WeightedSum("rank")([WORDS])
