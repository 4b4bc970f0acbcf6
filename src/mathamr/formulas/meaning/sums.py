"""Sums and their kin: signs between terms, by how tightly they bind."""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.formulas.latex.construction import LIMIT_FROM, decorated, left_associated
from mathamr.formulas.latex.node import ABSENT, APPLY, TOKEN, Node, apply
from mathamr.formulas.meaning.construction import named
from mathamr.formulas.meaning.derivatives import has_differential
from mathamr.formulas.meaning.grammar import Grammar
from mathamr.formulas.meaning.items import Group, Item, is_sign, place, role
from mathamr.formulas.meaning.relations import as_intervals

_LOOSENESS = {"or": 0, "exclusive-or": 0, "and": 1, "union": 2, "intersection": 2, "set-minus": 2, "symmetric-difference": 2}
_TIGHTEST = 3
_NO_SIGNS = frozenset(["top", "bottom"])
"""Symbols that the table of signs has and that stand alone."""


def is_sum_sign(item: Item) -> bool:
    """Whether the item stands between terms."""
    return role(item) == "ADDOP" and isinstance(item, Node) and item.meaning not in _NO_SIGNS


def summed(items: Sequence[Item], grammar: Grammar) -> Node:
    """The list as a sum of products."""
    grammar.notes.spend(1 + len(items))
    if not items:
        return ABSENT
    at = place(items, lambda item: role(item) == "MODIFIEROP")
    if at > 0:
        return named("modulo", summed(items[:at], grammar), summed(items[at + 1 :], grammar))
    if len(items) == 1:
        return grammar.product(items)
    terms, signs = _terms(items)
    if not signs:
        return grammar.product(items)
    if any(sign is not None and sign.meaning in ("union", "intersection", "set-minus") for sign in signs):
        for term in terms:
            as_intervals(term)
    return _joined(terms, signs, grammar)


def _terms(items: Sequence[Item]) -> tuple[list[list[Item]], list[Node | None]]:
    """Terms, and the sign before each; the first may have none. A sign behind a sign belongs to its term."""
    terms: list[list[Item]] = [[]]
    signs: list[Node | None] = [None]
    position = 0
    while position < len(items):
        item = items[position]
        position += 1
        if not is_sum_sign(item) or not isinstance(item, Node):
            terms[-1].append(item)
            continue
        if terms[-1] and role(terms[-1][-1]) in ("MULOP", "BINOP"):
            terms[-1].append(item)
            continue
        sign = item
        while position < len(items) and role(items[position]).startswith("POST"):
            script = items[position]
            if isinstance(script, Node):
                sign = decorated(sign, script)
            position += 1
        if not terms[-1] and len(terms) == 1 and signs[0] is None:
            signs[0] = sign
        else:
            terms.append([])
            signs.append(sign)
    if len(terms) == 1 and signs[0] is None:
        return terms, []
    return _integrated(terms, signs)


def _integrated(
    terms: list[list[Item]], signs: list[Node | None]
) -> tuple[list[list[Item]], list[Node | None]]:
    """Terms up to its differential belong to an integral: `\\int x+1\\,dx`."""
    position = 0
    while position < len(terms):
        if _is_open(terms[position]):
            end = next(
                (
                    later
                    for later in range(position + 1, len(terms))
                    if has_differential(terms[later]) or _has_integral(terms[later])
                ),
                None,
            )
            if end is not None and not _has_integral(terms[end]):
                for later in range(position + 1, end + 1):
                    sign = signs[later]
                    terms[position] += [*([sign] if sign is not None else []), *terms[later]]
                del terms[position + 1 : end + 1], signs[position + 1 : end + 1]
        position += 1
    return terms, signs


def _has_integral(items: Sequence[Item]) -> bool:
    return any(role(item) == "INTOP" for item in items)


def _is_open(items: Sequence[Item]) -> bool:
    """Whether an integral waits for its differential."""
    return _has_integral(items) and not has_differential(items)


def _joined(terms: Sequence[Sequence[Item]], signs: Sequence[Node | None], grammar: Grammar) -> Node:
    """Terms joined by the loosest signs first; equal ones from the left."""
    loosest = min((_level(sign) for sign in signs[1:]), default=_TIGHTEST)
    starts = [0, *(place for place in range(1, len(terms)) if _level(signs[place]) == loosest)]
    if loosest == _TIGHTEST or len(starts) == 1:
        return _signed(terms, signs, grammar)
    ends = [*starts[1:], len(terms)]
    parts = [
        _joined(terms[start:end], [signs[start] if start == 0 else None, *signs[start + 1 : end]], grammar)
        for start, end in zip(starts, ends, strict=True)
    ]
    return left_associated(parts, [sign for sign in (signs[start] for start in starts[1:]) if sign is not None])


def _level(sign: Node | None) -> int:
    return _TIGHTEST if sign is None else _LOOSENESS.get(sign.meaning, _TIGHTEST)


def _signed(terms: Sequence[Sequence[Item]], signs: Sequence[Node | None], grammar: Grammar) -> Node:
    nodes: list[Node] = []
    joints: list[Node] = []
    for position, (term, sign) in enumerate(zip(terms, signs, strict=True)):
        if not term:
            if sign is None:
                continue
            if not nodes:
                return sign
            if position == len(terms) - 1:
                nodes[-1] = apply(LIMIT_FROM, nodes[-1], sign)
                break
            return left_associated([*nodes, _unary(sign, terms[position + 1 :], signs[position + 1 :], grammar)], joints)
        node = grammar.product(term)
        if sign is None:
            nodes.append(node)
        elif not nodes:
            nodes.append(apply(sign, node))
        else:
            joints.append(sign)
            nodes.append(node)
    return left_associated(nodes, joints)


def _unary(sign: Node, terms: Sequence[Sequence[Item]], signs: Sequence[Node | None], grammar: Grammar) -> Node:
    """A sign behind a sign: `a + - b`."""
    return apply(sign, _signed(terms, signs, grammar))


def is_single(items: Sequence[Item]) -> bool:
    """Whether the list is one symbol, group or number."""
    return len(items) == 1 and (isinstance(items[0], Group) or items[0].kind in (TOKEN, APPLY))


def is_negative_one(items: Sequence[Item]) -> bool:
    """Whether the list is `-1`."""
    return len(items) == 2 and is_sign(items[0], "minus") and is_sign(items[1], "1")
