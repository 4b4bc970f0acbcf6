"""Traits: what the grammar wants to know about the items of a list, as bits that are computed once for each item.

The grammar searches for quantifiers, implications, relations, signs and a dozen other things, and most lists have hardly any
of them. The union of the traits of all items says which of these searches can be skipped.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Protocol

from mathamr.formulas.latex.grammar.rules import role_of
from mathamr.formulas.latex.node import HINT, TEXT, TOKEN, Node


class Traited(Protocol):
    """An item of a list: a node, or everything between two delimiters."""

    @property
    def traits(self) -> int:
        """Its traits; 0 for a node whose traits are not computed yet."""


(
    KNOWN, GROUP, PUNCTUATION, WIDE, RELATION, RELOP, ARROW, MIDDLE, SCRIPTED, SUM, FACTOR, MODIFIER, MOD, QUANTIFIER,
    WORDS, IMPLICATION, CONJUNCTION, COLON, BIG, SLASH, DIVISION, CROSS, DIFFERENTIAL, COMMA, SYMBOL, POSTFIX, INTEGRAL,
    DELIMITER,
) = (1 << bit for bit in range(28))  # fmt: skip

IMPLICATIONS = {
    "⇔": "iff", "⟺": "iff", "⇒": "implies", "⟹": "implies", "⇐": "implied-by", "⟸": "implied-by",
}  # fmt: skip
IMPLYING_ARROWS = {"→": "implies", "⟶": "implies", "↔": "iff", "⟷": "iff"}
"""Arrows that are implications between statements."""
QUANTIFIERS = frozenset(["for-all", "exists", "not-exists"])
EXTREMES = frozenset(["maximum", "minimum", "supremum", "infimum"])
SCRIPTS = frozenset(["POSTSUPERSCRIPT", "POSTSUBSCRIPT", "FLOATSUPERSCRIPT", "FLOATSUBSCRIPT"])
_NO_SIGNS = frozenset(["top", "bottom"])
"""Symbols of the table of signs that have no operands."""
_SUBGROUPS = frozenset("⊴⊵⊲⊳◁▷")

_BY_ROLE = {
    "PUNCT": PUNCTUATION | COMMA,
    "PERIOD": PUNCTUATION,
    "RELOP": RELATION | RELOP,
    "ARROW": RELATION | ARROW,
    "METARELOP": RELATION,
    "VERTBAR": RELATION | MIDDLE | DELIMITER,
    "OPEN": DELIMITER,
    "CLOSE": DELIMITER,
    "MIDDLE": RELATION | MIDDLE,
    "MULOP": FACTOR,
    "BINOP": FACTOR,
    "MODIFIEROP": MODIFIER,
    "SUMOP": BIG,
    "INTOP": BIG | INTEGRAL,
    "OPERATOR": BIG,
    "LIMITOP": BIG,
    "POSTFIX": POSTFIX,
    "ATOM": SYMBOL,
    "ID": SYMBOL,
    "NUMBER": SYMBOL,
    "UNKNOWN": SYMBOL,
} | dict.fromkeys(SCRIPTS, SCRIPTED)
"""`SYMBOL` marks roles that are a factor in any context."""
_BY_SIGN = {
    "or": CONJUNCTION,
    "and": CONJUNCTION,
    "colon": COLON,
    ":": COLON,
    "/": SLASH | DIVISION,
    "divide": DIVISION,
    "×": CROSS,
}


def traits_of(items: Iterable[Traited]) -> int:
    """Returns the union of the traits of the items of a list."""
    found = 0
    for item in items:
        found |= item.traits or item_traits(item)
    return found


def item_traits(item: Traited) -> int:
    """The traits of an item; a node stores them, since they are needed often."""
    if isinstance(item, Node) and not item.traits:
        judged = _remembered if len(item.text) + len(item.key) <= _LONGEST_REMEMBERED else _traits
        item.traits = judged(item.kind, item.role, grammatical_role(item), item.text, item.key, item.meaning)
    return item.traits


def grammatical_role(node: Node) -> str:
    """Returns the role of a node. Signs of subgroups are relations, which LaTeXML does not know."""
    return "RELOP" if node.text in _SUBGROUPS and node.kind == TOKEN else role_of(node)


def _traits(kind: int, own_role: str, role: str, text: str, key: str, meaning: str) -> int:
    found = KNOWN | _BY_ROLE.get(role, 0) | (_BY_ROLE.get(own_role, 0) & DELIMITER)
    if kind == TOKEN:
        found |= _BY_SIGN.get(key, 0) | _BY_SIGN.get(text, 0)
        if text == "mod":
            found |= MOD
        if text == "d" and own_role in ("UNKNOWN", "ID", "DIFFOP"):
            found |= DIFFERENTIAL
    elif kind == TEXT:
        found |= WORDS
    elif kind == HINT and own_role == "PUNCT":
        found |= WIDE
    if role == "ADDOP" and meaning not in _NO_SIGNS:
        found |= SUM
    if meaning in EXTREMES:
        found |= BIG
    if meaning in QUANTIFIERS and role in ("BIGOP", "FUNCTION"):
        found |= QUANTIFIER
    if text in IMPLICATIONS or text in IMPLYING_ARROWS:
        found |= IMPLICATION
    return found & ~SYMBOL if found & (WORDS | DIFFERENTIAL | BIG) else found


_LONGEST_REMEMBERED = 40
"""The maximum length of a cached symbol; words may be long, and hardly any of them recurs."""
_remembered = lru_cache(maxsize=4096)(_traits)
