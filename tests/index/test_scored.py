"""The best of scored ids, in an order that rounding does not decide."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mathamr.core.storage.raggedarrays import Strings
from mathamr.index.scored import DECIMALS, EntryNames, Scored, ScoredColumns, ScoredRows, best, rounded

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


@given(st.lists(SCORES, max_size=30), st.integers(1, 40), st.booleans(), st.integers(0, 30))
def test_rows_are_what_columns_of_their_ids_are(scores: list[float], k: int, is_read: bool, cut: int) -> None:
    ids = [f"p{number * 7919 % 101}" for number in range(40)]
    segments = [Strings.of(some) for some in (ids[:cut], ids[cut:])]
    for segment in segments if is_read else ():
        for _ in range(2):  # after as many strings as it has, a column is kept in memory
            segment.some(np.arange(len(segment)))
    rows = np.arange(len(scores))[::-1].copy()
    found = ScoredRows(EntryNames(segments), rows, rounded(scores))
    listed = ScoredColumns([ids[row] for row in rows], rounded(scores))
    assert found == listed
    assert found.best(k) == listed.best(k) == best(listed.ids, scores, k)
    asked = ["p0", *ids[::7], "unknown"]
    assert found.find(asked).tolist() == listed.find(asked).tolist()
    assert [found.ids[place] if place >= 0 else "unknown" for place in found.find(asked)] == [
        each if each in listed.ids else "unknown" for each in asked
    ]
