"""Lengths of TeX in em, as far as a page can follow them."""

from __future__ import annotations

import re

from mathamr.formulas.latex.cursor import Cursor
from mathamr.formulas.latex.layout import points_of

_BARE = re.compile(
    r"\s*=?\s*[+-]?\s*[0-9]*[.,]?[0-9]*\s*(?:pt|em|ex|mu|cm|mm|in|pc|bp|dd|cc|sp)(?:\s*(?:plus|minus)\s*[0-9.]+\s*[a-z]{2,5})*"
)
_LONGEST = 64
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
    if cursor.peek() == "{":
        return em_of(cursor.raw_argument())
    text = "".join(cursor.tokens[cursor.i : cursor.i + _LONGEST])
    match = _BARE.match(text)
    if match is None:
        return 0.0
    taken = match.end()
    while taken > 0 and cursor.i < cursor.count:
        taken -= len(cursor.tokens[cursor.i])
        cursor.i += 1
    return em_of(match.group().lstrip(" ="))
