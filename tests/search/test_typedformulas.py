"""Formulas as people type them: the bed of 300 and what must not be taken for a formula."""

from __future__ import annotations

import pytest

from mathamr.search.query import Query, with_formulas_marked
from tests.cases import cases
from tests.search.typed import bed, formulas_read, is_read_right


def test_typed_formulas_are_read_as_they_are_meant() -> None:
    """Read right when the reader was written: 190 of 191, and 104 of 109 that were held back."""
    right = dict.fromkeys((False, True), 0)
    for query in bed():
        right[query.is_held_back] += is_read_right(query)
    assert right[False] >= 190
    assert right[True] >= 104


@cases(
    ("text", "marked"),
    [
        ("the point P(8, -7) of a circle", "the point $P(8, -7)$ of a circle"),
        ("if c = gcd(a, b) then", "if $c = \\gcd(a, b)$ then"),
        ("(start with n = 1) again", "(start with $n = 1$) again"),
        ("prove x^2 is continuous", "prove $x^2$ is continuous"),
        ("C*-algebras and/or W*-algebras of 1968-1970", None),
        ("see https://example.org/a_b=c", None),
    ],
)
def test_brackets_stay_whole_and_prose_stays_prose(text: str, marked: str | None) -> None:
    assert with_formulas_marked(text) == (marked or text)


def test_greek_names_are_letters_beside_mathematics_and_words_beside_words() -> None:
    assert not [(query, formulas_read(query.text)) for query in bed("greek") if not is_read_right(query)]


@cases(
    ("text", "latex"),
    [
        ("beta_hat", r"\hat{\beta}"),
        ("1+i", "1+i"),
        ("1-x^a", "1-x^a"),
        ("$1+i$", "1+i"),
        ("it costs $5 and $10 where x^2 = 4", "x^2 = 4"),
        ("costs $5 if 0<a<1", "0<a<1"),
    ],
)
def test_dollars_around_typed_formulas_are_never_money(text: str, latex: str) -> None:
    assert formulas_read(text) == [latex]


def test_both_tasks_read_a_formula_alone_in_the_same_way() -> None:
    for query in bed():
        if len(query.meant) == 1 and Query.of_text(query.text).kind == "formula":
            assert formulas_read(query.text, "formulas") == formulas_read(query.text)


@pytest.mark.parametrize(
    ("text", "latex"), [("k ⁻¹", "k {}^{-1}"), ("f ⁻¹' s = t", "f {}^{-1}' s = t"), ("² ₁", "{}^2 {}_1")]
)
def test_a_script_behind_a_space_is_read_and_does_not_hang(text: str, latex: str) -> None:
    assert [formula.latex for formula in Query.of_text(text).formulas] == [latex]
