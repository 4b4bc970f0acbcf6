"""Symbols as they are drawn: the class of each, and its glyph in the current font."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from mathamr.formulas.latex.display.atom import (
    BIN,
    CLOSE,
    INNER,
    MOVABLE,
    OP,
    OPEN,
    ORD,
    PUNCT,
    REL,
    STRETCHED,
    Atom,
)
from mathamr.formulas.latex.fonts import Font, specialized, variant
from mathamr.formulas.latex.symbols import SYMBOLS, Symbol
from mathamr.formulas.mathml.alphabets import styled_completely
from mathamr.formulas.mathml.element import NO_ATTRIBUTES, Element

_CLASSES = {
    **dict.fromkeys(["ADDOP", "MULOP", "BINOP", "MODIFIEROP"], BIN),
    **dict.fromkeys(["RELOP", "METARELOP", "ARROW"], REL),
    **dict.fromkeys(["OPFUNCTION", "TRIGFUNCTION", "LIMITOP", "SUMOP", "INTOP"], OP),
    "OPEN": OPEN,
    "CLOSE": CLOSE,
    "PUNCT": PUNCT,
    "POSTFIX": CLOSE,
}
"""TeX's class for each role of the grammar; others are ordinary."""

_EXCEPTIONS: dict[str, int] = {
    **dict.fromkeys(
        ["/", "\\slash", "\\backslash", "\\top", "\\bot", "\\&", "\\%", "\\Im", "\\Re", "\\not", "\\ldotp", "."], ORD
    ),
    **dict.fromkeys(
        ["\\mid", "\\parallel", "\\trianglelefteq", "\\trianglerighteq", "\\vartriangleleft", "\\vartriangleright",
         "\\shortmid", "\\vartriangle"], REL
    ),
    **dict.fromkeys(["\\ulcorner", "\\llcorner", "\\lmoustache"], OPEN),
    **dict.fromkeys(["\\urcorner", "\\lrcorner", "\\rmoustache", "?"], CLOSE),
    **dict.fromkeys(["\\cdots", "\\ldots", "\\ddots", "\\hdots", "\\iddots", "\\dotsb", "\\dotsc", "\\dotsi", "\\dotsm",
                     "\\dotso", "\\mathellipsis", "\\textellipsis"], INNER),
    **dict.fromkeys(["\\argmax", "\\argmin", "\\esssup", "\\essinf"], OP),
    **dict.fromkeys(["\\cdotp"], PUNCT),
    "\\bigtimes": OP,
}  # fmt: skip
"""Symbols whose class is not that of their role."""

_TEXTS = {
    "-": "−", "*": "∗", "\\amalg": "⨿", "`": "‘", '"': "”", "\\relbar": "−", "\\lozenge": "◊", "\\blacklozenge": "⧫",
    "\\varepsilon": "ε", "\\bigtimes": "⨉", "\\iff": "⟺", "\\hslash": "ℏ", "\\bullet": "∙", "\\And": "&",
    "\\lgroup": "⟮", "\\rgroup": "⟯", "\\injlim": "inj\u2009lim", "\\projlim": "proj\u2009lim",
    "\\liminf": "lim\u2009inf", "\\limsup": "lim\u2009sup", "\\argmax": "arg\u2009max", "\\argmin": "arg\u2009min",
    "\\esssup": "ess\u2009sup", "\\essinf": "ess\u2009inf", "\\perp": "⊥", "\\varnothing": "⌀",
}  # fmt: skip
"""Characters that are drawn where the trees have another one."""

_OPERATORS = frozenset(["ADDOP", "MULOP", "BINOP", "RELOP", "METARELOP", "ARROW", "OPEN", "CLOSE", "VERTBAR", "PUNCT", "SUMOP",
                        "INTOP", "SUPOP", "POSTFIX", "PERIOD"])  # fmt: skip
_LETTERLIKE = frozenset("∂∇ıȷ")
"""Characters that a browser would slant like a letter."""
_BIG = frozenset(["SUMOP", "INTOP"])


@lru_cache(maxsize=1)
def _by_text() -> dict[str, str]:
    """Return the command for every character that a command produces."""
    found = {"−": "-", "·": "\\cdot", "‖": "\\|"}
    for name, symbol in SYMBOLS.items():
        if len(symbol.text) == 1 and not symbol.text.isascii():
            found.setdefault(symbol.text, name)
    return found


def class_of(token: str) -> int:
    """Return the class of a symbol; anything else is ordinary."""
    if token in _EXCEPTIONS:
        return _EXCEPTIONS[token]
    symbol = SYMBOLS.get(token)
    return ORD if symbol is None else _CLASSES.get(symbol.role, ORD)


class Glyph(NamedTuple):
    """What a symbol is drawn as: its element, its class, where limits go, and the font that joins it to its neighbours."""

    tag: str
    text: str
    attributes: Mapping[str, str] = NO_ATTRIBUTES
    kind: int = ORD
    limits: str = ""
    font: Font | None = None

    def atom(self, style: int) -> Atom:
        """Return a new atom in one of TeX's styles."""
        return Atom(
            Element(self.tag, self.text, (), self.attributes), self.kind, style, self.limits, self.font
        )


@lru_cache(maxsize=1 << 13)
def glyph(token: str, font: Font) -> Glyph | None:
    """Return how a token that is one symbol is drawn in a font, or None for commands that do something."""
    if token not in SYMBOLS and len(token) == 1:
        token = _by_text().get(token, token)
    symbol = SYMBOLS.get(token)
    if symbol is None:
        if len(token) != 1 or token in "{}^_'$&#~\\" or token.isspace():
            return None
        if token.isalpha():
            return letter(token, font)
        return _sign(_TEXTS.get(token, token), _EXCEPTIONS.get(token, ORD))
    kind = class_of(token)
    text = _TEXTS.get(token, symbol.text)
    if symbol.role == "NUMBER":
        return digit(text, font)
    if kind == OP:
        return _operation(symbol, text)
    if symbol.role in _OPERATORS or kind not in (ORD, INNER):
        return _sign(text, kind)
    slanted = token.startswith("\\var") and token[4:5].isupper()
    return letter(text, font, slanted=slanted)._replace(kind=kind)


def _operation(symbol: Symbol, text: str) -> Glyph:
    """Draw a big operator, or the name of a function; with limits it is an operator so that a browser can move them."""
    limits = MOVABLE if symbol.limits or symbol.role == "SUMOP" else ""
    if symbol.role in _BIG or len(text) == 1:
        large = {"\\bigtimes": "true", "\\smallint": "false"}.get("\\" + symbol.name)
        return Glyph("mo", text, {"largeop": large} if large else NO_ATTRIBUTES, OP, limits)
    return name(text, limits)


def name(text: str, limits: str = "") -> Glyph:
    """Return the name of a function."""
    if limits:
        return Glyph("mo", text, {"form": "prefix"}, OP, limits)
    return Glyph("mi", text, {"mathvariant": "normal"} if len(text) == 1 else NO_ATTRIBUTES, OP)


def _sign(text: str, kind: int) -> Glyph:
    """Draw an operator that keeps its size."""
    return Glyph("mo", text, {"stretchy": "false"} if text in STRETCHED else NO_ATTRIBUTES, kind)


def letter(text: str, font: Font, *, slanted: bool = False, upright: bool = False) -> Glyph:
    """Draw a letter or another ordinary symbol in its font; some commands fix its slant."""
    own = specialized(font, text)
    alphabet = "" if upright else variant(own) or ("italic" if slanted else "")
    if alphabet == "italic" and len(text) == 1:
        return Glyph("mi", text, font=own)
    shown = (styled_completely(text, alphabet) if alphabet else None) or text
    stands = len(shown) == 1 and shown == text and (text.isalpha() or text in _LETTERLIKE)
    attributes = {"mathvariant": "normal"} if stands else NO_ATTRIBUTES
    return Glyph("mi", shown, attributes, font=own if text.isalpha() and not upright else None)


def digit(text: str, font: Font) -> Glyph:
    """Return a digit, or the point of a decimal number."""
    own = specialized(font, text)
    alphabet = variant(own)
    return Glyph("mn", (styled_completely(text, alphabet) if alphabet else None) or text, font=own)
