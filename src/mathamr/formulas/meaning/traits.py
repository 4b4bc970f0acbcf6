"""Traits: what the grammar asks of every item of a list, told once an item and then read off as bits.

A list is asked for quantifiers, implications, relations, signs and a dozen other things, each of which most lists do
not have: with the traits of all its items together, one look says which of these questions need be asked at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from mathamr.formulas.latex.grammar.rules import role_of
from mathamr.formulas.latex.node import HINT, TEXT, TOKEN, Node

if TYPE_CHECKING:
    from mathamr.formulas.meaning.items import Item

(
    TOLD, GROUP, PUNCTUATION, WIDE, RELATION, RELOP, ARROW, MIDDLE, SCRIPTED, SUM, FACTOR, MODIFIER, MOD, QUANTIFIER,
    WORDS, IMPLICATION, CONJUNCTION, COLON, BIG, SLASH, DIVISION, CROSS, DIFFERENTIAL, COMMA, SYMBOL, POSTFIX, INTEGRAL,
    DELIMITER,
) = (1 << bit for bit in range(28))  # fmt: skip

IMPLICATIONS = {
    "⇔": "iff", "⟺": "iff", "⇒": "implies", "⟹": "implies", "⇐": "implied-by", "⟸": "implied-by",
}  # fmt: skip
IMPLYING_ARROWS = {"→": "implies", "⟶": "implies", "↔": "iff", "⟷": "iff"}
"""Arrows that are implications where statements stand around them."""
QUANTIFIERS = frozenset(["for-all", "exists", "not-exists"])
EXTREMES = frozenset(["maximum", "minimum", "supremum", "infimum"])
SCRIPTS = frozenset(["POSTSUPERSCRIPT", "POSTSUBSCRIPT", "FLOATSUPERSCRIPT", "FLOATSUBSCRIPT"])
_NO_SIGNS = frozenset(["top", "bottom"])
"""Symbols that the table of signs has and that stand alone."""
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
"""`SYMBOL` is what is a factor by itself, whatever stands around it."""
_BY_SIGN = {
    "or": CONJUNCTION,
    "and": CONJUNCTION,
    "colon": COLON,
    ":": COLON,
    "/": SLASH | DIVISION,
    "divide": DIVISION,
    "×": CROSS,
}


def traits_of(items: Iterable[Item]) -> int:
    """The traits that the items of a list have together."""
    found = 0
    for item in items:
        found |= item.traits or told(item)
    return found


def told(item: Item) -> int:
    """The traits of an item; a node keeps them, since it is asked again and again."""
    if isinstance(item, Node) and not item.traits:
        judged = _remembered if len(item.text) + len(item.key) <= _LONGEST_REMEMBERED else _traits
        item.traits = judged(item.kind, item.role, grammatical_role(item), item.text, item.key, item.meaning)
    return item.traits


def grammatical_role(node: Node) -> str:
    """The role of a node. Signs of subgroups are relations, as which LaTeXML does not know them."""
    return "RELOP" if node.text in _SUBGROUPS and node.kind == TOKEN else role_of(node)


def _traits(kind: int, own_role: str, role: str, text: str, key: str, meaning: str) -> int:
    found = TOLD | _BY_ROLE.get(role, 0) | (_BY_ROLE.get(own_role, 0) & DELIMITER)
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
"""Characters of a symbol; words may be long, and hardly any of them comes again."""
_remembered = lru_cache(maxsize=4096)(_traits)
