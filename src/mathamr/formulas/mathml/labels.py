"""Text of a node label: what the published trees make of the characters of a token."""

from __future__ import annotations

from functools import lru_cache

_ESCAPES = str.maketrans(
    {"\t": "\\t", "\n": "\\n", "\r": "\\r", "?": "&quest;", ",": "&comma;", "[": "&lsqb;", "]": "&rsqb;"}
)
_INVISIBLE = frozenset("\u2061\u2062\u2063\u2064")


@lru_cache(maxsize=16384)
def clean(text: str) -> str:
    """The token's text as a label shows it: stripped, with the notation's own characters escaped.

    Invisible operators (function application, times, separator, plus) become nothing.

    >>> clean(" a,b ")
    'a&comma;b'
    """
    text = text.strip().translate(_ESCAPES)
    return "" if text in _INVISIBLE else text
