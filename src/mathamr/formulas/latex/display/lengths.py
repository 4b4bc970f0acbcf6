"""Lengths of TeX in em, as far as a page can use them."""

from __future__ import annotations

from mathamr.formulas.latex.boxes import points_of
from mathamr.formulas.latex.cursor import Cursor

_NARROWEST, _WIDEST = -4.0, 50.0


def em_of(text: str) -> float:
    """Returns a length in em; 0 if it is not a length, or more than a line.

    >>> em_of("18mu"), em_of("2pt"), em_of("9999cm")
    (1.0, 0.2, 0.0)
    """
    width = points_of(text.replace(" ", "")) / 10
    return round(width, 4) if _NARROWEST <= width <= _WIDEST else 0.0


def bare_length(cursor: Cursor) -> float:
    """Reads the length here, without braces (`\\kern 1em`) or in them, in em."""
    return em_of(cursor.dimension())


def line_gap(cursor: Cursor) -> float:
    """Reads the options after the end of a line and returns their space, in em."""
    start = cursor.i
    cursor.skip_line_options()
    return em_of("".join(cursor.tokens[start : cursor.i]).strip("* []"))
