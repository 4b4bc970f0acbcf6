"""Sums and similar operations: signs between terms, by how tightly they bind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mathamr.formulas.latex.assembly import LIMIT_FROM, decorated, left_associated
from mathamr.formulas.latex.node import ABSENT, Node, apply
from mathamr.formulas.semantics.derivatives import has_differential
from mathamr.formulas.semantics.items import Item, is_sign, place
from mathamr.formulas.semantics.nodes import named
from mathamr.formulas.semantics.protocol import MeaningGrammar
from mathamr.formulas.semantics.relations import as_intervals
from mathamr.formulas.semantics.traits import (
    FACTOR,
    INTEGRAL,
    MODIFIER,
    SCRIPTED,
    SUM,
    item_traits,
    traits_of,
)

_LOOSENESS = {
    "or": 0,
    "exclusive-or": 0,
    "and": 1,
    "union": 2,
    "intersection": 2,
    "set-minus": 2,
    "symmetric-difference": 2,
}
_TIGHTEST = 3
_SETS = frozenset(["union", "intersection", "set-minus"])


def is_sum_sign(item: Item) -> bool:
    """True if the item is a sign between terms."""
    return bool(item_traits(item) & SUM)


@dataclass(slots=True)
class _Term:
    """One term: the sign that joins it to the previous ones, its own signs, its items."""

    joint: Node | None = None
    signs: list[Node] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)


def summed(items: Sequence[Item], grammar: MeaningGrammar) -> Node:
    """Reads the list as a sum of products."""
    grammar.notes.budget.spend(1 + len(items))
    if not items:
        return ABSENT
    traits = traits_of(items)
    at = place(items, lambda item: bool(item_traits(item) & MODIFIER)) if traits & MODIFIER else -1
    if at > 0:
        return named("modulo", grammar.sum(items[:at]), grammar.sum(items[at + 1 :]))
    if not traits & SUM:
        return grammar.product(items)
    terms = _terms(items)
    if traits & INTEGRAL:
        terms = _integrated(terms)
    if any(term.joint is not None and term.joint.meaning in _SETS for term in terms):
        for term in terms:
            as_intervals(term.items)
    return _joined(terms, grammar)


def _terms(items: Sequence[Item]) -> list[_Term]:
    """Splits terms with their signs; a sign after a sign of a sum or product belongs to what follows it."""
    terms = [_Term()]
    position = 0
    while position < len(items):
        item = items[position]
        position += 1
        last = terms[-1].items
        if (
            not item_traits(item) & SUM
            or not isinstance(item, Node)
            or (last and item_traits(last[-1]) & FACTOR)
        ):
            last.append(item)
            continue
        sign = item
        while position < len(items) and item_traits(items[position]) & SCRIPTED:
            script = items[position]
            if isinstance(script, Node):
                sign = decorated(sign, script)
            position += 1
        if last:
            terms.append(_Term(sign))
        else:
            terms[-1].signs.append(sign)
    return terms


def _integrated(terms: Sequence[_Term]) -> list[_Term]:
    """Joins terms up to its differential to an integral: `\\int x+1\\,dx`."""
    result: list[_Term] = []
    position = 0
    while position < len(terms):
        term = terms[position]
        position += 1
        if _has_integral(term.items) and not has_differential(term.items):
            end = position
            while end < len(terms) and not (
                has_differential(terms[end].items) or _has_integral(terms[end].items)
            ):
                end += 1
            if end < len(terms) and not _has_integral(terms[end].items):
                for more in terms[position : end + 1]:
                    joint = [] if more.joint is None else [more.joint]
                    term.items += [*joint, *more.signs, *more.items]
                position = end + 1
        result.append(term)
    return result


def _has_integral(items: Sequence[Item]) -> bool:
    return bool(traits_of(items) & INTEGRAL)


def _joined(terms: Sequence[_Term], grammar: MeaningGrammar) -> Node:
    """Joins terms by the loosest signs first; equal ones from the left."""
    levels = [
        _TIGHTEST if term.joint is None else _LOOSENESS.get(term.joint.meaning, _TIGHTEST) for term in terms
    ]
    loosest = min(levels[1:], default=_TIGHTEST)
    if loosest == _TIGHTEST:
        return _added(terms, grammar)
    starts = [0, *(number for number in range(1, len(terms)) if levels[number] == loosest)]
    ends = [*starts[1:], len(terms)]
    parts = [_joined(terms[start:end], grammar) for start, end in zip(starts, ends, strict=True)]
    return left_associated(
        parts, [joint for start in starts[1:] if (joint := terms[start].joint) is not None]
    )


def _added(terms: Sequence[_Term], grammar: MeaningGrammar) -> Node:
    nodes: list[Node] = []
    joints: list[Node] = []
    for term in terms:
        signs = list(term.signs)
        if term.items:
            node = grammar.product(term.items)
        elif signs:
            node = signs.pop()
        elif term.joint is not None and nodes:
            nodes[-1] = apply(LIMIT_FROM, nodes[-1], term.joint)
            continue
        else:
            node = ABSENT
        for sign in reversed(signs):
            node = apply(sign, node)
        if nodes and term.joint is not None:
            joints.append(term.joint)
        nodes.append(node)
    return left_associated(nodes, joints)


def is_negative_one(items: Sequence[Item]) -> bool:
    """True if the list is `-1`."""
    return len(items) == 2 and is_sign(items[0], "minus") and is_sign(items[1], "1")
