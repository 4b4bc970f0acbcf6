"""Products: big operators, signs between factors, divisions and quotients of structures."""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.formulas.latex.assembly import decorated, same_operator
from mathamr.formulas.latex.node import ABSENT, APPLY, INVISIBLE_TIMES, TOKEN, Node, apply, operator
from mathamr.formulas.semantics.bigoperators import big, is_big
from mathamr.formulas.semantics.derivatives import (
    PARTIAL,
    awaits_function,
    completed,
    derivative,
    differential_end,
)
from mathamr.formulas.semantics.factorreading import FactorRun
from mathamr.formulas.semantics.items import (
    Group,
    Item,
    is_group,
    is_middle,
    is_sign,
    place,
    role,
    scripts_end,
    split,
)
from mathamr.formulas.semantics.letters import DIVIDED, DIVIDING, is_letter, is_structure, letter
from mathamr.formulas.semantics.nodes import named, product, symbolic
from mathamr.formulas.semantics.protocol import MeaningGrammar
from mathamr.formulas.semantics.traits import (
    BIG,
    CROSS,
    DIVISION,
    FACTOR,
    MIDDLE,
    SCRIPTED,
    SLASH,
    item_traits,
    traits_of,
)

_TIMES = frozenset(["⋅", "×", "*", "∙"])


def multiplied(items: Sequence[Item], grammar: MeaningGrammar) -> Node:
    """Reads the list as a product."""
    grammar.notes.budget.spend(1 + len(items))
    if len(items) == 1 and not is_big(items, 0):
        return FactorRun(items, grammar).node()
    traits = traits_of(items)
    if traits & BIG:
        items = _with_big(items, grammar)
    if traits & MIDDLE:
        items = _evaluated(items, grammar)
    if not traits & (FACTOR | DIVISION | CROSS):
        return FactorRun(items, grammar).node() if items else ABSENT
    quotient = _inline_derivative(items, grammar) if traits & SLASH else None
    if quotient is not None:
        return quotient
    sets = split(items, lambda item: is_sign(item, "×")) if traits & CROSS else []
    if len(sets) > 1 and all(map(_is_set, sets)):
        return apply(symbolic("cartesian-product"), *(grammar.product(each) for each in sets))
    if traits & DIVISION and place(items, lambda item: is_sign(item, "/", "divide")) > 0:
        factors = split(items, lambda item: is_sign(item, *_TIMES))
        if len(factors) > 1 and all(factors):  # a slash binds tighter: 1/2 × 1/2
            return product([grammar.product(each) for each in factors])
    runs, signs = _runs(items)
    nodes = [FactorRun(run, grammar).node() if run else ABSENT for run in runs]
    if len(nodes) == 1:
        return nodes[0]
    return _joined(runs, nodes, signs, grammar)


def _with_big(items: Sequence[Item], grammar: MeaningGrammar) -> Sequence[Item]:
    """Returns the list with its first big operator and the rest of the term, which belongs to it, as one item."""
    for position in range(len(items)):
        if is_big(items, position):
            end = scripts_end(items, position + 1)
            head = items[position]
            scripts = [item for item in items[position + 1 : end] if isinstance(item, Node)]
            if isinstance(head, Node):
                return [*items[:position], grammar.settled(big(head, scripts, items[end:], grammar))]
    return items


def _evaluated(items: Sequence[Item], grammar: MeaningGrammar) -> Sequence[Item]:
    """Reads a product followed by a bar with bounds: the product at those bounds."""
    bar = place(items, is_middle)
    if bar <= 0:
        return items
    end = scripts_end(items, bar + 1)
    bounds = [grammar.node(item.children[0]) for item in items[bar + 1 : end] if isinstance(item, Node)]
    if not bounds:
        return items
    shown = named("evaluated-at", multiplied(items[:bar], grammar), *bounds)
    return [grammar.settled(shown), *items[end:]]


def _inline_derivative(items: Sequence[Item], grammar: MeaningGrammar) -> Node | None:
    """`dy/dx`."""
    slash = place(items, lambda item: is_sign(item, "/"))
    if slash <= 0:
        return None
    start = slash + 1
    end = differential_end(items, start) if start < len(items) else start
    if end == start and start < len(items) and is_sign(items[start], PARTIAL):
        end = scripts_end(items, min(start + 2, len(items)))
    if end == start:
        return None
    found = derivative(items[:slash], items[start:end], grammar)
    if found is None:
        return None
    rest = items[end:]
    if not rest:
        return found
    if awaits_function(found):
        return completed(found, multiplied(rest, grammar))
    return multiplied([grammar.settled(found), *rest], grammar)


def _runs(items: Sequence[Item]) -> tuple[list[list[Item]], list[Node]]:
    """Returns runs of adjacent factors, and the signs between; a leading sign has an empty run at its left."""
    runs: list[list[Item]] = [[]]
    signs: list[Node] = []
    position = 0
    while position < len(items):
        item = items[position]
        position += 1
        if not item_traits(item) & FACTOR or not isinstance(item, Node) or len(items) == 1:
            runs[-1].append(item)
            continue
        sign = item
        while position < len(items) and item_traits(items[position]) & SCRIPTED:
            script = items[position]
            if isinstance(script, Node):
                sign = decorated(sign, script)
            position += 1
        signs.append(sign)
        runs.append([])
    return runs, signs


def _joined(
    runs: list[list[Item]], nodes: list[Node], signs: Sequence[Node], grammar: MeaningGrammar
) -> Node:
    """Joins runs from the left: products as one, quotients if structures are divided."""
    result = nodes[0]
    previous: Node | None = None
    left = runs[0]
    for sign, run, node in zip(signs, runs[1:], nodes[1:], strict=True):
        kind = _kind(sign, left, run)
        if kind is None:
            if (
                previous is not None
                and same_operator(previous, sign)
                and result.kind == APPLY
                and sign.meaning != "divide"
            ):
                result = apply(sign, *result.children[1:], node)
            elif sign.text in ("/", "÷") or sign.meaning == "divide":
                result = _divided(result, left, run, node, grammar)
            else:
                result = apply(sign, result, node)
            previous = sign
        elif kind is INVISIBLE_TIMES:
            result, previous = product([result, node]), None
        else:
            if kind.meaning == "quotient":
                grammar.notes.decide("/", "a quotient", "a structure is divided by another")
            is_more = previous is not None and previous.meaning == kind.meaning and kind.meaning != "quotient"
            result = apply(kind, *result.children[1:], node) if is_more else apply(kind, result, node)
            previous = kind
        left = run
    return result


def _divided(
    result: Node, left: Sequence[Item], run: Sequence[Item], node: Node, grammar: MeaningGrammar
) -> Node:
    """Reads `a/bc` as `a/(bc)`, but a number divided by a number as a fraction: `1/2x` is half of x."""
    division = operator("divide")
    if len(run) > 1 and role(run[0]) == "NUMBER" and len(left) == 1 and role(left[0]) == "NUMBER":
        grammar.notes.decide("…/…", "a fraction before a factor", "two numbers are divided")
        return product(
            [
                apply(division, result, run[0]) if isinstance(run[0], Node) else result,
                grammar.product(run[1:]),
            ]
        )
    if node.kind == APPLY and node.children[0] is INVISIBLE_TIMES:
        grammar.notes.decide(
            "…/…", "divided by the whole product behind", "factors side by side bind tighter"
        )
    return apply(division, result, node)


def _kind(sign: Node, left: Sequence[Item], right: Sequence[Item]) -> Node | None:
    """Returns the meaning of a sign that depends on its operands."""
    if sign.text == "/":
        return operator("quotient") if _divides_structures(left, right) else None
    if sign.text in _TIMES and sign.kind == TOKEN:
        if _is_vector(left) and _is_vector(right):
            return operator({"⋅": "dot-product", "×": "cross-product"}.get(sign.text, "times"))
        return INVISIBLE_TIMES
    return None


def _is_vector(run: Sequence[Item]) -> bool:
    first = run[0] if run else None
    if not isinstance(first, Node):
        return False
    if first.kind == APPLY:
        return first.children[0].role == "OVERACCENT" and first.children[0].text == "→"
    return is_letter(first) and first.font.series == "bold"


def _is_set(run: Sequence[Item]) -> bool:
    """True for a letter of a set, a capital letter, a set or an interval."""
    first = run[0] if run else None
    if isinstance(first, Group):
        return first.opening in "{["
    return isinstance(first, Node) and is_letter(first) and (is_structure(first) or letter(first).isupper())


def _divides_structures(left: Sequence[Item], right: Sequence[Item]) -> bool:
    first, second = (left[0] if left else None), (right[0] if right else None)
    if not isinstance(first, Node) or second is None or not is_letter(first):
        return False
    if is_sign(second, "similar-to", "∼", "equivalent-to"):
        return True
    if is_structure(first):
        return True
    last = right[-1]
    if (
        isinstance(last, Node)
        and is_letter(last)
        and letter(last) == letter(first)
        and letter(first).isupper()
    ):
        return len(right) > 1
    if isinstance(second, Group):
        return is_group(second, "(⟨") and any(is_group(item, "[") for item in left)
    if len(left) == 1 or scripts_end(left, 1) == len(left):
        simple = len(right) == 1 or scripts_end(right, 1) == len(right)
        return (
            is_letter(second)
            and letter(first) in DIVIDED
            and ((letter(second) in DIVIDING and simple) or is_structure(second))
        )
    return any(is_group(item, "[") for item in left)
