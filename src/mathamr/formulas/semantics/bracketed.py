"""Groups between delimiters: pairs, intervals, sets, absolute values, indices of subgroups, arguments."""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.formulas.latex.node import ABSENT, TOKEN, Node, apply, operator
from mathamr.formulas.semantics.items import (
    Group,
    Item,
    is_middle,
    is_sign,
    is_words,
    place,
    role,
    split,
)
from mathamr.formulas.semantics.letters import is_letter, letter
from mathamr.formulas.semantics.nodes import named
from mathamr.formulas.semantics.protocol import MeaningGrammar
from mathamr.formulas.semantics.traits import COMMA, SCRIPTS, item_traits, traits_of

_INTERVALS = {
    "()": "open-interval", "[]": "closed-interval", "(]": "open-closed-interval", "[)": "closed-open-interval",
}  # fmt: skip
_AROUND = {"||": "absolute-value", "∥∥": "norm", "‖‖": "norm", "⌊⌋": "floor", "⌈⌉": "ceiling"}
_LISTS = {"(": "vector", "{": "set", "[": "list", "⟨": "list"}
_TWO = 2


def parts(items: Sequence[Item]) -> list[list[Item]]:
    """Returns the items between commas and semicolons."""
    if not traits_of(items) & COMMA:
        return [list(items)] if items else []
    return [piece for piece in split(items, lambda item: bool(item_traits(item) & COMMA)) if piece]


def fenced(group: Group, grammar: MeaningGrammar) -> Node:
    """Returns the meaning of a group that is not an argument."""
    around = group.opening + group.closing
    grammar.notes.budget.spend()
    if not group.items:
        return apply(operator("list"))
    if around in _AROUND:
        subgroup = _index(group.items, grammar)
        return subgroup or named(_AROUND[around], grammar.formula(group.items))
    if around == "{}":
        return _set(group, grammar)
    pieces = parts(group.items)
    if around == "⟨⟩":
        return _angled(group, pieces, grammar)
    if len(pieces) > 1:
        return _several(group, pieces, grammar)
    if around == "[]":
        return _bracketed(group, grammar)
    return grammar.formula(group.items)


def _index(items: Sequence[Item], grammar: MeaningGrammar) -> Node | None:
    """Reads `[K:F]`, `|G:H|`: the degree of an extension, the index of a subgroup."""
    colon = place(items, lambda item: is_sign(item, "colon", ":"))
    if colon > 0 and colon + 1 < len(items) and not any(role(item) in ("RELOP", "ARROW") for item in items):
        return named("index", grammar.sum(items[:colon]), grammar.sum(items[colon + 1 :]))
    return None


def _bracketed(group: Group, grammar: MeaningGrammar) -> Node:
    """Reads brackets around one item: an index, a class, or just parentheses."""
    found = _index(group.items, grammar)
    if found is not None:
        return found
    inner = grammar.formula(group.items)
    only = group.items[0]
    if isinstance(only, Node) and is_letter(only) and all(role(item) in SCRIPTS for item in group.items[1:]):
        grammar.notes.decide(f"[{only.text}]", "a class", "brackets stand around one letter")
        return named("class", inner)
    return inner


def _several(group: Group, pieces: Sequence[Sequence[Item]], grammar: MeaningGrammar) -> Node:
    """Reads several items between parentheses or brackets: an interval, a pair, a tuple, a commutator."""
    around = group.opening + group.closing
    nodes = [_item(piece, grammar) for piece in pieces]
    shown = f"{group.opening}…,…{group.closing}"
    if len(pieces) == _TWO and around in _INTERVALS:
        if around not in ("()", "[]"):
            return named(_INTERVALS[around], *nodes)
        if around == "[]":
            if all(map(_is_capital, pieces)):
                grammar.notes.decide(shown, "a commutator", "its items are capital letters")
                return named("commutator", *nodes)
            return named("closed-interval", *nodes)
        if group.use == "gcd":
            grammar.notes.decide(shown, "a greatest common divisor", "it is equal to 1")
            return named("gcd", *nodes)
        if _has_infinity(pieces) or (group.use == "interval" and not any(map(_has_tuple, pieces))):
            reason = "one end is infinite" if _has_infinity(pieces) else "it stands among sets"
            grammar.notes.decide(shown, "an open interval", reason)
            return named("open-interval", *nodes)
        grammar.notes.decide(shown, "a pair", "nothing says that it is an interval")
    return named(_LISTS.get(group.opening, "list"), *nodes)


def _item(piece: Sequence[Item], grammar: MeaningGrammar) -> Node:
    """Reads one item of a tuple, which may be a sign alone, as in `(\\mathbb R,+)`."""
    if len(piece) == 1 and isinstance(piece[0], Node) and piece[0].kind == TOKEN:
        return piece[0]
    return grammar.formula(piece)


def _is_capital(piece: Sequence[Item]) -> bool:
    first = piece[0]
    return isinstance(first, Node) and is_letter(first) and letter(first).isupper() and len(piece) <= _TWO


def _has_infinity(pieces: Sequence[Sequence[Item]]) -> bool:
    return any(is_sign(piece[-1], "infinity") for piece in pieces)


def _has_tuple(piece: Sequence[Item]) -> bool:
    return any(isinstance(item, Group) and len(parts(item.items)) > 1 for item in piece)


def _set(group: Group, grammar: MeaningGrammar) -> Node:
    """Reads `{x | x>0}`, `{x : x>0}`, `{1,2,3}`."""
    bar = place(group.items, is_middle)
    if bar < 0:
        bar = place(group.items, lambda item: is_sign(item, "colon", ":"))
    if bar < 0:
        bar = place(group.items, lambda item: is_words(item) and "such that" in getattr(item, "text", ""))
    if 0 < bar < len(group.items) - 1:
        left, right = group.items[:bar], group.items[bar + 1 :]
        return named("conditional-set", grammar.formula(left), grammar.formula(right))
    return named("set", *(_item(piece, grammar) for piece in parts(group.items)))


def _angled(group: Group, pieces: Sequence[Sequence[Item]], grammar: MeaningGrammar) -> Node:
    """Reads `\\langle x,y\\rangle` as an inner product, `\\langle a,b\\mid r\\rangle` as a presentation."""
    bars = [position for position, item in enumerate(group.items) if is_middle(item)]
    if len(bars) == 1 and 0 < bars[0] < len(group.items) - 1:
        left, right = group.items[: bars[0]], group.items[bars[0] + 1 :]
        meaning = (
            "presentation"
            if len(parts(left)) > 1 or any(role(one) == "RELOP" for one in right)
            else "inner-product"
        )
        return named(meaning, grammar.formula(left), grammar.formula(right))
    if bars:
        return named(
            "quantum-operator-product", *(grammar.formula(piece) for piece in split(group.items, is_middle))
        )
    nodes = [grammar.formula(piece) for piece in pieces]
    if len(nodes) == _TWO:
        grammar.notes.decide("⟨…,…⟩", "an inner product", "two things stand in angles")
        return named("inner-product", *nodes)
    if len(nodes) == 1:
        return named("generated", *nodes)
    return named("list", *nodes)


def arguments(group: Group, grammar: MeaningGrammar) -> list[Node]:
    """Reads the arguments of a function; a bar is a condition (`P(A|B)`)."""
    bar = place(group.items, is_middle)
    if 0 < bar < len(group.items) - 1:
        left, right = group.items[:bar], group.items[bar + 1 :]
        return [named("conditional", grammar.formula(left), grammar.formula(right))]
    pieces = parts(group.items)
    if len(pieces) > 1:
        relations = [any(role(item) == "RELOP" for item in piece) for piece in pieces]
        if not any(relations) or all(relations):
            return [_item(piece, grammar) for piece in pieces]
        return [grammar.formula(group.items)]
    return [_item(group.items, grammar)] if group.items else [ABSENT]
