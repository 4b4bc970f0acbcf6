"""Differentials and derivatives: `dx`, `\\frac{dy}{dx}`, `\\frac{\\partial^2 f}{\\partial x\\partial y}`."""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.formulas.latex.node import ABSENT, APPLY, TOKEN, Node, apply, operator
from mathamr.formulas.semantics.items import Item, is_group, role, scripts_end
from mathamr.formulas.semantics.letters import DIFFERENTIABLE, DIFFERENTIALS, is_letter, letter
from mathamr.formulas.semantics.nodes import bound
from mathamr.formulas.semantics.protocol import MeaningGrammar
from mathamr.formulas.semantics.traits import DIFFERENTIAL, item_traits

PARTIAL = "partial-differential"


def is_d(item: Item) -> bool:
    """True if the item is the letter of a differential, upright or not."""
    return bool(item_traits(item) & DIFFERENTIAL)


def _is_partial(item: Item) -> bool:
    return isinstance(item, Node) and item.kind == TOKEN and item.meaning == PARTIAL


def differential_end(items: Sequence[Item], start: int) -> int:
    """Returns the position after the differential that begins at a place, or the place itself if none does.

    A differential is `d` followed by a variable: a letter with its scripts, perhaps applied (`d\\mu(x)`).
    """
    if not is_d(items[start]) or start + 1 >= len(items):
        return start
    following = items[start + 1]
    if role(following).endswith("SUPERSCRIPT") and start + 2 < len(items):
        following = items[start + 2]
        if isinstance(following, Node) and is_letter(following):
            return scripts_end(items, start + 3)
        return start
    if isinstance(following, Node) and (is_letter(following) or _is_vector(following)):
        end = scripts_end(items, start + 2)
        if end < len(items) and is_group(items[end]) and letter(following) in ("μ", "ν", "F", "P", "λ", "ℙ"):
            end += 1
        return end
    return start


def _is_vector(node: Node) -> bool:
    return node.kind == APPLY and node.children[0].role == "OVERACCENT"


def has_differential(items: Sequence[Item]) -> bool:
    """True if a product, or the numerator of one of its fractions, contains a differential."""
    return any(
        differential_end(items, position) > position or _has_in_numerator(item)
        for position, item in enumerate(items)
    )


def _has_in_numerator(item: Item) -> bool:
    if not isinstance(item, Node) or not is_fraction(item):
        return False
    source = item.children[1].source
    return any(differential_end(source, position) > position for position in range(len(source)))


def is_fraction(node: Node) -> bool:
    """True if the node is a fraction with a bar."""
    return node.kind == APPLY and node.children[0].role == "FRACOP" and node.children[0].meaning == "divide"


def differentials(items: Sequence[Item]) -> list[tuple[int, int]]:
    """Returns the ranges of the differentials of a list."""
    found: list[tuple[int, int]] = []
    position = 0
    while position < len(items):
        end = differential_end(items, position)
        if end > position:
            found.append((position, end))
        position = max(end, position + 1)
    return found


def without(
    items: Sequence[Item], spans: Sequence[tuple[int, int]], grammar: MeaningGrammar
) -> tuple[list[Item], list[Node]]:
    """Returns the list without some of its differentials, and the variables that they bind."""
    taken = {position for start, end in spans for position in range(start, end)}
    left = [item for position, item in enumerate(items) if position not in taken]
    return left, [bound(grammar.sum(items[start + 1 : end])) for start, end in spans]


def derivative(above: Sequence[Item], below: Sequence[Item], grammar: MeaningGrammar) -> Node | None:
    """Returns the derivative that a fraction writes, or None; one without its function has an absent operand."""
    sign = above[0] if above else None
    if sign is None or not below or not (is_d(sign) or _is_partial(sign)):
        return None
    is_same = is_d if is_d(sign) else _is_partial
    if not is_same(below[0]):
        return None
    rest = list(above[scripts_end(above, 1) :])
    variables = _variables(below, is_same is _is_partial, grammar)
    if variables is None or (is_same is is_d and not rest and len(above) == 1 and len(below) < 2):
        return None
    function = ABSENT
    if rest:
        first = rest[0]
        if isinstance(first, Node) and is_letter(first) and letter(first) in DIFFERENTIABLE:
            grammar.notes.functions.add(letter(first))
        function = grammar.product(rest)
    return apply(operator("differential" if is_same is is_d else PARTIAL), function, *variables)


def _variables(below: Sequence[Item], partial: bool, grammar: MeaningGrammar) -> list[Node] | None:
    """Returns the variables of a denominator, each with its order: `dx^2`, `\\partial x\\partial y`."""
    is_same = _is_partial if partial else is_d
    variables: list[Node] = []
    position = 0
    while position < len(below):
        if not is_same(below[position]) or position + 1 >= len(below):
            return None
        start = position + 1
        variable = below[start]
        if isinstance(variable, Node) and not (is_letter(variable) or variable.kind == APPLY):
            return None
        end = scripts_end(below, start + 1)
        order = [item for item in below[start + 1 : end] if role(item).endswith("SUPERSCRIPT")]
        plain = [item for item in below[start:end] if item not in order]
        orders = [grammar.node(item.children[0]) for item in order if isinstance(item, Node)]
        variables.append(bound(grammar.product(plain), *orders))
        position = end
    return variables


def is_usual_differential(items: Sequence[Item], start: int) -> bool:
    """True if there is a `d` with a usual variable here, outside of any integral."""
    end = differential_end(items, start)
    following = items[start + 1] if end > start else None
    return (
        isinstance(following, Node)
        and is_letter(following)
        and letter(following) in DIFFERENTIALS
        and not (end < len(items) and is_group(items[end]))
    )


def awaits_function(node: Node) -> bool:
    """True if the node is a derivative whose function follows it: `\\frac{d}{dx}`."""
    return (
        node.kind == APPLY
        and len(node.children) > 2
        and node.children[1] is ABSENT
        and node.children[0].meaning in ("differential", PARTIAL)
    )


def completed(node: Node, function: Node) -> Node:
    """Returns the derivative with its function."""
    return apply(node.children[0], function, *node.children[2:])
