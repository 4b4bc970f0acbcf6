"""Symbols as they are drawn: the class of each, and its element in the current font."""

from __future__ import annotations

from functools import lru_cache

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
    operator,
)
from mathamr.formulas.latex.fonts import Font, specialized, variant
from mathamr.formulas.latex.symbols import SYMBOLS, Symbol
from mathamr.formulas.mathml.alphabets import styled_completely
from mathamr.formulas.mathml.element import Element

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


def symbol_atom(token: str, font: Font, style: int) -> Atom | None:
    """Return the atom of a token that is one symbol, or None for commands that do something."""
    if token not in SYMBOLS and len(token) == 1:
        token = _by_text().get(token, token)
    symbol = SYMBOLS.get(token)
    if symbol is None:
        if len(token) != 1 or token in "{}^_'$&#~\\" or token.isspace():
            return None
        if token.isalpha():
            return letter(token, font, style)
        return Atom(fence_or_sign(_TEXTS.get(token, token)), _EXCEPTIONS.get(token, ORD), style)
    kind = class_of(token)
    text = _TEXTS.get(token, symbol.text)
    if symbol.role == "NUMBER":
        return digit(text, font, style)
    if kind == OP:
        return _operation(symbol, text, style)
    if symbol.role in _OPERATORS or kind not in (ORD, INNER):
        return Atom(fence_or_sign(text), kind, style)
    slanted = token.startswith("\\var") and token[4:5].isupper()
    atom = letter(text, font, style, slanted=slanted)
    atom.kind = kind
    return atom


def _operation(symbol: Symbol, text: str, style: int) -> Atom:
    """Draw a big operator, or the name of a function; with limits it is an operator so that a browser can move them."""
    limits = MOVABLE if symbol.limits or symbol.role == "SUMOP" else ""
    if symbol.role in _BIG or len(text) == 1:
        large = {"\\bigtimes": "true", "\\smallint": "false"}.get("\\" + symbol.name)
        return Atom(operator(text, **({"largeop": large} if large else {})), OP, style, limits)
    return name(text, style, limits)


def name(text: str, style: int, limits: str = "") -> Atom:
    """Return the name of a function."""
    if limits:
        return Atom(operator(text, form="prefix"), OP, style, limits)
    attributes = {"mathvariant": "normal"} if len(text) == 1 else {}
    return Atom(Element("mi", text, (), attributes), OP, style)


def fence_or_sign(text: str) -> Element:
    """Draw an operator that keeps its size."""
    return operator(text, stretchy="false") if text in STRETCHED else operator(text)


def letter(text: str, font: Font, style: int, *, slanted: bool = False, upright: bool = False) -> Atom:
    """Draw a letter or another ordinary symbol in its font; some commands fix its slant."""
    own = specialized(font, text)
    alphabet = "" if upright else variant(own) or ("italic" if slanted else "")
    if alphabet == "italic" and len(text) == 1:
        return Atom(Element("mi", text), ORD, style, font=own)
    shown = (styled_completely(text, alphabet) if alphabet else None) or text
    stands = len(shown) == 1 and shown == text and (text.isalpha() or text in _LETTERLIKE)
    element = Element("mi", shown, (), {"mathvariant": "normal"} if stands else {})
    return Atom(element, ORD, style, font=own if text.isalpha() and not upright else None)


def digit(text: str, font: Font, style: int) -> Atom:
    """Return a digit, or the point of a decimal number."""
    own = specialized(font, text)
    alphabet = variant(own)
    return Atom(
        Element("mn", (styled_completely(text, alphabet) if alphabet else None) or text), ORD, style, font=own
    )
