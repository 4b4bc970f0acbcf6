"""The gold set: what a mathematician reads, what is published, and how much of the part held out is read."""

from __future__ import annotations

import pytest

from mathamr.formulas.parse import context_of, parse
from tests.formulas.semantics.gold import Row, gold
from tests.formulas.term import term

SEEN, HELD_OUT = gold("seen"), gold("heldout")
LEAST_HELD_OUT = 0.95
"""Share of the held-out part that must be read; what is missed there is in docs/formulas.md."""


def read(row: Row) -> str:
    return term(parse(row.latex, reading="mathematician", context=context_of(row.post)).opt)


@pytest.mark.parametrize("row", SEEN, ids=lambda row: row.latex)
def test_a_formula_is_read_as_a_mathematician_does(row: Row) -> None:
    assert read(row) == row.mathematician


@pytest.mark.parametrize("row", SEEN + HELD_OUT, ids=lambda row: row.latex)
def test_the_published_reading_is_kept(row: Row) -> None:
    formula = parse(row.latex)
    assert term(formula.opt) == row.published
    assert formula.decisions == ()


def test_the_held_out_formulas_are_read() -> None:
    missed = [row.latex for row in HELD_OUT if read(row) != row.mathematician]
    assert len(missed) <= (1 - LEAST_HELD_OUT) * len(HELD_OUT), missed


def test_the_layout_is_the_same_in_both_readings() -> None:
    for row in SEEN + HELD_OUT:
        assert parse(row.latex, reading="mathematician").slt == parse(row.latex).slt


def test_the_gold_set_is_large_and_has_no_formula_twice() -> None:
    rows = [(row.latex, row.post) for row in SEEN + HELD_OUT]
    assert len(rows) >= 300
    assert len(HELD_OUT) >= 100
    assert len(set(rows)) == len(rows)
