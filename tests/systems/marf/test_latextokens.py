from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.systems.marf.latextokens import latex_tokens


@pytest.mark.parametrize(
    ("latex", "tokens"),
    [
        (r"\frac12", r"\frac { 1 } { 2 }"),
        (r"\tfrac{a}b", r"\frac { a } { b }"),
        (r"x^\frac12", r"x ^ { \frac { 1 } { 2 } }"),
        (r"\sqrt[3]2", r"\sqrt [ 3 ] { 2 }"),
        (r"\left(a_i\right)^n", r"( a _ { i } ) ^ { n }"),
        (r"a\le b \leqslant c", r"a \leq b \leq c"),
        (r"30", "3 10e 1"),
        (r"325", "3 10e 2 2 10e 1 5 10e 0"),
        (r"7", "7"),
        (r"100.05", "1 10e 2 . 5 10e -2"),
        (r"0", "0"),
        (r"x^12", "x ^ { 1 } 2"),
        (r"{{a", "{ { a } }"),
        (r"a}}b", "a b"),
        (r"\frac", r"\frac { } { }"),
        ("", ""),
    ],
)
def test_tokens_of_hand_worked_formulas(latex: str, tokens: str) -> None:
    assert " ".join(latex_tokens(latex)) == tokens


@given(st.text(alphabet="{}^_\\ab1.0[] frcsqt", max_size=80))
def test_whatever_is_written_braces_are_complete(latex: str) -> None:
    opened = 0
    for token in latex_tokens(latex):
        opened += {"{": 1, "}": -1}.get(token, 0)
        assert opened >= 0
    assert opened == 0


def test_nesting_without_end_is_read_without_recursion() -> None:
    assert len(latex_tokens("{" * 3000)) == 6000
    assert latex_tokens(r"\frac" * 700).count(r"\frac") == 700
