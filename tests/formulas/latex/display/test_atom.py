"""Spacing as TeX computes it; the oracle is the table of The TeXbook, chapter 18."""

from __future__ import annotations

import pytest

from mathamr.formulas.latex.cursor import Cursor
from mathamr.formulas.latex.display.atom import (
    BIN,
    CLOSE,
    INNER,
    OP,
    OPEN,
    ORD,
    PUNCT,
    REL,
    SCRIPT,
    TEXT,
    Atom,
    arranged,
    em_of,
    space,
)
from mathamr.formulas.latex.lexer import tokenize
from mathamr.formulas.mathml.element import Element
from mathamr.formulas.mathml.styles import STYLES
from tests.cases import cases
from tests.formulas.latex.display.drawing import styles_of

TEXBOOK = """
      Ord Op  Bin Rel Open Close Punct Inner
Ord   0   1   (2) (3) 0    0     0     (1)
Op    1   1   *   (3) 0    0     0     (1)
Bin   (2) (2) *   *   (2)  *     *     (2)
Rel   (3) (3) *   0   (3)  0     0     (3)
Open  0   0   *   0   0    0     0     0
Close 0   1   (2) (3) 0    0     0     (1)
Punct (1) (1) *   (1) (1)  (1)   (1)   (1)
Inner (1) 1   (2) (3) (1)  0     (1)   (1)
"""
KINDS = {
    "Ord": ORD,
    "Op": OP,
    "Bin": BIN,
    "Rel": REL,
    "Open": OPEN,
    "Close": CLOSE,
    "Punct": PUNCT,
    "Inner": INNER,
}
HEAD, *ROWS = [line.split() for line in TEXBOOK.strip().splitlines()]
PAIRS = [
    (row[0], right, sign) for row in ROWS for right, sign in zip(HEAD, row[1:], strict=True) if sign != "*"
]
WIDTHS = {"0": 0.0, "1": 3 / 18, "2": 4 / 18, "3": 5 / 18}


def _gap(left: int, right: int, style: int) -> float:
    """The space between two atoms; operands around them keep a binary operator one."""
    around = [Atom(Element("mi", "a"), ORD, style)]
    pair = [Atom(Element("mi", "l"), left, style), Atom(Element("mi", "r"), right, style)]
    before = around if left == BIN else []
    row = arranged([*before, *pair, *(around if right == BIN else [])])
    place = next(i for i, element in enumerate(row) if element.text == "l")
    following = row[place + 1]
    return float(following.attributes["width"].removesuffix("em")) if following.tag == "mspace" else 0.0


def test_space_between_classes_is_that_of_the_texbook() -> None:
    for left, right, sign in PAIRS:
        expected = WIDTHS[sign.strip("()")]
        in_script = 0.0 if sign.startswith("(") else expected
        gaps = [_gap(KINDS[left], KINDS[right], style) for style in (TEXT, SCRIPT)]
        assert gaps == pytest.approx([expected, in_script], abs=1e-4), (left, right)


def test_negative_space_is_drawn_by_styles_that_add_up_to_it() -> None:
    names = [styles_of(step)[0] for step in [space(-1.3).element] for step in step.children]
    total = sum(float(STYLES[name].split("-")[-1].removesuffix("em")) for name in names)
    assert total == pytest.approx(1.3, abs=1 / 36)
    assert set(names) == {"back-em", "back-thin", "back-mu"}


@cases(
    ("text", "em"), [("1em", 1.0), ("10pt", 1.0), ("-2pt", -0.2), ("18mu", 1.0), ("x", 0.0), ("900em", 0.0)]
)
def test_lengths_in_em(text: str, em: float) -> None:
    assert em_of(text) == em


@cases(
    ("text", "em", "rest"),
    [("1em x", 1.0, " x"), ("2pt plus 1pt minus 1pt y", 0.2, " y"), ("{1em}z", 1.0, "z"), ("x", 0.0, "x")],
)
def test_a_bare_length_is_read_and_no_more(text: str, em: float, rest: str) -> None:
    tokens, offsets = tokenize(text)
    cursor = Cursor(tokens, offsets, text)
    assert em_of(cursor.dimension()) == em
    assert "".join(tokens[cursor.i :]) == rest
