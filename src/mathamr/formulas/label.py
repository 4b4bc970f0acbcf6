"""Labels of tree nodes, `V!x`: a type and a value. Layout trees leave operators untyped, `+`."""

from __future__ import annotations

import re
from functools import lru_cache

TYPES = {
    "N": "number",
    "V": "variable",
    "F": "function",
    "C": "constant",
    "T": "text",
    "O": "ordered operator",
    "U": "unordered operator",
    "+": "compound operator",
    "M": "group or matrix",
    "E": "error",
    "W": "white",
    "-": "unknown",
    "$": "qualifier",
    "?": "wildcard",
    "": "symbol",
}
"""Every node type, by the character before the `!`; a wildcard begins with `?`, a plain symbol has no type."""

_TYPED = re.compile(r"\+!(?:[NVFCTOUMEW$\-]!)?|[NVFCTOUMEW$\-]!|\?")
_ESCAPES = str.maketrans(
    {"\t": "\\t", "\n": "\\n", "\r": "\\r", "?": "&quest;", ",": "&comma;", "[": "&lsqb;", "]": "&rsqb;"}
)
_INVISIBLE = frozenset("\u2061\u2062\u2063\u2064")


def node_type(label: str) -> str:
    """Return the type of a label, a key of `TYPES`.

    >>> [node_type(label) for label in ("V!x", "+!O!sum", "?x", "!", "=")]
    ['V', '+', '?', '', '']
    """
    return label[0] if _TYPED.match(label) else ""


def value(label: str) -> str:
    """Return the label without its type.

    >>> [value(label) for label in ("V!x", "+!O!sum", "?x", "V!!", "M!R!", "=")]
    ['x', 'sum', 'x', '!', 'R!', '=']
    """
    found = _TYPED.match(label)
    return label[found.end() :] if found else label


@lru_cache(maxsize=16384)
def clean(text: str) -> str:
    """Return the text of a MathML token as a label: stripped, with the notation's own characters escaped.

    Invisible operators (function application, times, separator, plus) become nothing.

    >>> clean(" a,b ")
    'a&comma;b'
    """
    text = text.strip().translate(_ESCAPES)
    return "" if text in _INVISIBLE else text
