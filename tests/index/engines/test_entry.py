"""Entries as engines may store them, filters, and the order of equal scores."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.core.errors import MathAMRError
from mathamr.index.engines.entry import Entry, Filter, Payload, checked, seconds
from mathamr.posts.level import Level
from mathamr.systems.field import Field
from mathamr.systems.vectors import Vectors
from tests.cases import cases

FIELDS = (Field(name="document", of="posts", size=2),)
ROWS = {"document": Vectors.one(np.ones(2, np.float32), Level.DOCUMENT, "a")}


@cases(
    ("date", "same"),
    [
        ("2021", "2021-01-01T00:00:00Z"),
        ("2021-05", "2021-05-01"),
        ("2021-05-17", "2021-05-17T00:00:00+00:00"),
        ("2021-05-17T12:30", "2021-05-17T14:30:00+02:00"),
        (" 2021-05-17 ", "2021-05-17"),
    ],
)
def test_dates_that_mean_the_same_moment_are_equal(date: str, same: str) -> None:
    assert seconds(date) == seconds(same)


@given(st.text(max_size=30))
def test_any_text_is_a_date_or_a_clear_error(text: str) -> None:
    with suppress(MathAMRError):
        assert isinstance(seconds(text), float)


def test_a_date_that_cannot_be_read_is_no_date() -> None:
    assert Payload(date="last spring").time is None
    assert not Filter(after="1900").passes(Payload(date="last spring"))
    assert not Filter(before="2900").passes(Payload())


def test_a_filter_bounds_dates_from_below_with_and_from_above_without_the_bound() -> None:
    payload = Payload(date="2020-06-01")
    assert Filter(after="2020-06-01").passes(payload)
    assert not Filter(before="2020-06-01").passes(payload)
    assert Filter(before="2020-06-02").passes(payload)


def test_the_dates_of_a_filter_are_read_once_for_all_payloads() -> None:
    class Counted(str):
        read = 0

        def strip(self, chars: str | None = None) -> str:
            Counted.read += 1
            return super().strip(chars)

    where = Filter(after=Counted("1873-05-17"), kinds=("note",))
    assert sum(where.passes(Payload("note", date=f"{1800 + number}")) for number in range(100)) == 26
    assert Counted.read == 1
    dates = [Counted("1900") for _ in range(100)]
    assert all(Filter(kinds=("note",)).passes(Payload("note", date=date)) for date in dates)
    assert Counted.read == 1, "a filter without bounds reads no date"


def test_an_empty_filter_is_false_and_passes_everything() -> None:
    assert not Filter()
    assert Filter(minimum_score=0)
    assert Filter().passes(Payload())


def test_a_huge_score_is_refused() -> None:
    entry = Entry("a", ROWS, Payload(score=2**60))
    with pytest.raises(MathAMRError, match="out of range"):
        list(checked([entry], FIELDS))


def test_an_id_that_is_too_long_is_refused() -> None:
    with pytest.raises(MathAMRError, match="one of 5,000 characters"):
        list(checked([Entry("x" * 5000, ROWS)], FIELDS))
