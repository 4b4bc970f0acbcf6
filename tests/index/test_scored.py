"""The best of scored ids, in an order that rounding does not decide."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mathamr.index.scored import DECIMALS, Scored, ScoredColumns, best

SCORES = st.one_of(st.sampled_from([0.0, -0.0, 0.25, 0.2500001, 0.5]), st.floats(-1, 1))


@given(st.lists(SCORES, max_size=30), st.integers(1, 40))
def test_the_best_are_those_of_a_plain_sort(scores: list[float], k: int) -> None:
    ids = [f"p{number * 7919 % 101}" for number in range(len(scores))]
    rounded = [round(score, DECIMALS) + 0.0 for score in scores]
    expected = sorted(zip(ids, rounded, strict=True), key=lambda each: (-each[1], each[0]))[:k]
    assert best(ids, scores, k) == [Scored(*each) for each in expected]


@given(st.lists(st.tuples(st.text(max_size=3), SCORES), max_size=8), st.integers(-9, 9), st.integers(-9, 9))
def test_columns_are_what_a_list_of_the_same_is(pairs: list[tuple[str, float]], begin: int, end: int) -> None:
    listed = [Scored(*each) for each in pairs]
    columns = ScoredColumns.of(pairs)
    assert columns == listed
    assert list(columns) == listed == [columns[place] for place in range(len(columns))]
    assert columns[begin:end] == listed[begin:end]
    assert columns != [*listed, Scored("more", 0.5)]
    assert repr(columns) == repr(listed)
    assert columns.by_id() == dict(pairs)
    assert ScoredColumns.of(columns) is columns
