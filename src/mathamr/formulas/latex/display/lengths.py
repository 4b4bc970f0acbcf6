"""Lengths of TeX in em, as far as a page can follow them."""

from __future__ import annotations

from mathamr.formulas.latex.boxes import points_of
from mathamr.formulas.latex.cursor import Cursor

_NARROWEST, _WIDEST = -4.0, 50.0


def em_of(text: str) -> float:
    """A length in em; what is none, or more than a line, is nothing.

    >>> em_of("18mu"), em_of("2pt"), em_of("9999cm")
    (1.0, 0.2, 0.0)
    """
    width = points_of(text.replace(" ", "")) / 10
    return round(width, 4) if _NARROWEST <= width <= _WIDEST else 0.0


def bare_length(cursor: Cursor) -> float:
    """The length that stands here without braces (`\\kern 1em`) or in them, read, in em."""
    return em_of(cursor.dimension())


def line_gap(cursor: Cursor) -> float:
    """What may follow the end of a line, read: the space that it asks for, in em."""
    start = cursor.i
    cursor.skip_line_options()
    return em_of("".join(cursor.tokens[start : cursor.i]).strip("* []"))
