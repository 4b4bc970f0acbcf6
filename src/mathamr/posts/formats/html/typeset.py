"""Formulas that a page sets with letters, subscripts and superscripts of HTML alone, as LaTeX.

Pandoc writes formulas so where no other way was chosen: `<em>x</em><sub><em>i</em></sub>` is `x_{i}`.
"""

from __future__ import annotations

import re
from collections import Counter
from html import unescape

from mathamr.formulas.latex.symbols import FUNCTIONS

_SET = re.compile(r"<(?:sub|sup)\b[^<>]*>|</(?:em|i|strong|b)>", re.I)
_PART = re.compile(r"<(/?)([a-zA-Z]++)[^<>]*+>|([^<]+|<)")
_WORD = re.compile(r"[A-Za-z]{2,}")
_SPACE = re.compile("[\u00a0\u2000-\u200b\u202f\u205f\u2060\ufeff]+")
_SPECIAL = re.compile(r"[{}%#&_]")
_OPENING = {"sub": "_{", "sup": "^{", "strong": r"\mathbf{", "b": r"\mathbf{"}
_SLANTED = frozenset(["em", "i"])


def is_typeset(content: str) -> bool:
    """Return True if the content of an element that is marked as a formula is set with HTML and is not LaTeX."""
    return "\\" not in content and "$" not in content and _SET.search(content) is not None


def as_latex(content: str) -> str:
    r"""Return the LaTeX of a formula that is set with HTML; elements that mean nothing here are passed over.

    >>> as_latex("{log <em>x</em><sub><em>i</em></sub><sup>2</sup> &lt; <strong>v</strong>}")
    '\\{\\log x_{i}^{2} < \\mathbf{v}\\}'
    """
    parts: list[str] = []
    open_: list[str] = []
    depth = Counter[str]()
    for closing, name, text in _PART.findall(content):
        name = name.lower()
        if text:
            said = _SPECIAL.sub(r"\\\g<0>", _SPACE.sub(" ", unescape(text)))
            is_upright = not any(depth[each] for each in _SLANTED)
            parts.append(_WORD.sub(_word, said) if is_upright else said)
        elif not closing:
            open_.append(name)
            depth[name] += 1
            parts.append(_OPENING.get(name, ""))
        elif depth[name]:
            ended = ""
            while ended != name:
                ended = open_.pop()
                depth[ended] -= 1
                parts.append("}" if ended in _OPENING else "")
    parts += ["}" for name in open_ if name in _OPENING]
    return " ".join("".join(parts).split())


def _word(match: re.Match[str]) -> str:
    """Return a word that stands upright among letters: a function, or a name."""
    return rf"\{match[0]} " if match[0] in FUNCTIONS else rf"\mathrm{{{match[0]}}}"
