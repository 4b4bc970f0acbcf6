"""Sums, products, unions, limits and integrals with their ranges and bound variables."""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.formulas.latex.node import Node, apply
from mathamr.formulas.semantics.derivatives import differentials, is_fraction, without
from mathamr.formulas.semantics.items import Item, is_sign, is_words, place, role, split
from mathamr.formulas.semantics.logic import bound_by
from mathamr.formulas.semantics.nodes import bound, named, product, qualifier, symbolic, whole, words
from mathamr.formulas.semantics.protocol import MeaningGrammar
from mathamr.formulas.semantics.relations import approached
from mathamr.formulas.semantics.traits import BIG, EXTREMES, item_traits

_FUNCTIONS = frozenset(["determinant", "dimension"])
_PLAIN = frozenset(
    ["integral", "double-integral", "triple-integral", "quadruple-integral", "multiple-integral", ""]
)
INTEGRAL = symbolic("integral")


def is_big(items: Sequence[Item], position: int) -> bool:
    """True if there is a big operator at a place; `\\max` is one only with something below it."""
    item = items[position]
    if not item_traits(item) & BIG or not isinstance(item, Node):
        return False
    kind = role(item)
    if kind in ("SUMOP", "INTOP"):
        return True
    following = role(items[position + 1]) if position + 1 < len(items) else ""
    if item.meaning in EXTREMES or kind == "OPERATOR":
        return following == "POSTSUBSCRIPT"
    return kind == "LIMITOP" and item.meaning not in _FUNCTIONS


def big(head: Node, scripts: Sequence[Node], body: Sequence[Item], grammar: MeaningGrammar) -> Node:
    """Reads a big operator with its scripts, applied to the rest of its term."""
    below = next((script.children[0] for script in scripts if script.role.endswith("SUBSCRIPT")), None)
    above = next((script.children[0] for script in scripts if script.role.endswith("SUPERSCRIPT")), None)
    if role(head) == "INTOP":
        return _integral(head, below, above, body, grammar)
    operands = _range(below, above, grammar)
    inner = [grammar.product(body)] if body else []
    return apply(head, *inner, *operands)


def _range(below: Node | None, above: Node | None, grammar: MeaningGrammar) -> list[Node]:
    """Returns bound variables, then limits or a condition."""
    operands: list[Node] = []
    if below is not None:
        operands += ranged(grammar.items(below), grammar)
    if above is not None:
        operands.append(qualifier("uplimit", grammar.node(above)))
    return operands


def ranged(items: Sequence[Item], grammar: MeaningGrammar) -> list[Node]:
    """Reads the range below an operator: `i=1`, `i\\in I`, `x\\to a`, `k`, or words."""
    if len(items) == 1 and is_words(items[0]) and isinstance(items[0], Node):
        return [named("condition", words(items[0]))]
    for keys, is_limit in ((("equals",), False), (("→", "⟶", "↑", "↓", "↗", "↘"), True)):
        at = place(items, lambda item, keys=keys: is_sign(item, *keys))  # type: ignore[misc]
        if (
            at > 0
            and at + 1 < len(items)
            and place(items, lambda item: role(item) in ("RELOP", "ARROW"), at + 1) < 0
        ):
            variables = [
                bound(grammar.sum(piece))
                for piece in split(items[:at], lambda item: role(item) == "PUNCT")
                if piece
            ]
            sign = items[at]
            side = items[at + 1 :]
            limit = (
                approached(side, sign, grammar)
                if is_limit and isinstance(sign, Node)
                else grammar.formula(side)
            )
            return [*variables, qualifier("lowlimit", limit)]
    variables, condition = bound_by(items, grammar)
    operands = [bound(variable) for variable in variables]
    if condition is not None:
        operands.append(named("condition", condition))
    return operands


def _integral(
    head: Node, below: Node | None, above: Node | None, body: Sequence[Item], grammar: MeaningGrammar
) -> Node:
    """Reads an integral: its integrand, the variables of its differentials, its limits or its domain."""
    integrand, variables = without(body, _own(body), grammar)
    inner: Node | None = None
    if not variables:
        inner, variables = _from_fraction(integrand, grammar)
    if inner is None and integrand:
        inner = grammar.sum(integrand)
    elif inner is None and variables:
        inner = whole(1)
    operands = variables if inner is None else [inner, *variables]
    if below is not None and above is None:
        operands.append(named("domain", grammar.node(below)))
    elif below is not None:
        items = grammar.items(below)
        equation = place(items, lambda item: is_sign(item, "equals"))
        operands.append(qualifier("lowlimit", grammar.sum(items[equation + 1 :])))
    if above is not None:
        operands.append(qualifier("uplimit", grammar.node(above)))
    return apply(INTEGRAL if head.meaning in _PLAIN else head, *operands)


def _own(body: Sequence[Item]) -> list[tuple[int, int]]:
    """Returns the differentials of an integral: all or, if it contains integrals, those before them, or the last."""
    found = differentials(body)
    inner = [position for position, item in enumerate(body) if role(item) == "INTOP"]
    if not inner:
        return found
    before = [span for span in found if span[1] <= inner[0]]
    if before:
        return before
    return found[-1:] if len(found) > len(inner) else []


def _from_fraction(items: Sequence[Item], grammar: MeaningGrammar) -> tuple[Node | None, list[Node]]:
    """Reads `\\int\\frac{dx}{x}`, where the differential is in a numerator."""
    for position, item in enumerate(items):
        if isinstance(item, Node) and is_fraction(item):
            above = grammar.items(item.children[1])
            rest, variables = without(above, differentials(above), grammar)
            if variables:
                numerator = grammar.sum(rest) if rest else whole(1)
                quotient = apply(item.children[0], numerator, grammar.node(item.children[2]))
                others = [*items[:position], *items[position + 1 :]]
                return (product([grammar.product(others), quotient]) if others else quotient), variables
    return None, []


def sequence(item: Node, scripts: Sequence[Node], grammar: MeaningGrammar) -> Node | None:
    """Reads `(a_n)_{n\\in\\mathbb N}`, `\\{a_n\\}_{n=1}^\\infty`: a sequence whose index binds a variable."""
    below = next((script.children[0] for script in scripts if script.role == "POSTSUBSCRIPT"), None)
    above = next((script.children[0] for script in scripts if script.role == "POSTSUPERSCRIPT"), None)
    if below is None:
        return None
    items = grammar.items(below)
    if above is None and place(items, lambda one: role(one) == "RELOP") < 0 and not _is_index(items):
        return None
    if above is not None and place(items, lambda one: role(one) == "RELOP") < 0:
        return None
    return named("sequence", item, *_range(below, above, grammar))


def _is_index(items: Sequence[Item]) -> bool:
    return len(items) == 1 and is_sign(items[0], "n", "k", "i", "j", "m")
