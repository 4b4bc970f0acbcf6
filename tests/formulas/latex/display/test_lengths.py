from __future__ import annotations

import pytest

from mathamr.formulas.latex.cursor import Cursor
from mathamr.formulas.latex.display.atom import DEFAULT_SPACES, STRETCHED, em_of
from mathamr.formulas.latex.lexer import tokenize


@pytest.mark.parametrize(
    ("text", "em"), [("1em", 1.0), ("10pt", 1.0), ("-2pt", -0.2), ("18mu", 1.0), ("x", 0.0), ("900em", 0.0)]
)
def test_lengths_in_em(text: str, em: float) -> None:
    assert em_of(text) == em


@pytest.mark.parametrize(
    ("text", "em", "rest"),
    [("1em x", 1.0, " x"), ("2pt plus 1pt minus 1pt y", 0.2, " y"), ("{1em}z", 1.0, "z"), ("x", 0.0, "x")],
)
def test_a_bare_length_is_read_and_no_more(text: str, em: float, rest: str) -> None:
    tokens, offsets = tokenize(text)
    cursor = Cursor(tokens, offsets, text)
    assert em_of(cursor.dimension()) == em
    assert "".join(tokens[cursor.i :]) == rest


def test_known_spaces_are_those_of_tex_classes() -> None:
    assert DEFAULT_SPACES["="] == (5 / 18, 5 / 18)
    assert DEFAULT_SPACES["+"] == (4 / 18, 4 / 18)
    assert DEFAULT_SPACES[","] == (0.0, 3 / 18)
    assert "∗" not in DEFAULT_SPACES


def test_bars_and_parentheses_would_grow() -> None:
    assert set("()[]{}|‖") <= STRETCHED
