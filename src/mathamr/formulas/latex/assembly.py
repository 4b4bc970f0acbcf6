"""How the grammar puts nodes together: lists, relations, fences, scripts."""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.formulas.latex.node import (
    ABSENT,
    APPLY,
    DUAL,
    INVISIBLE_TIMES,
    TOKEN,
    Node,
    apply,
    dual,
    operator,
    row,
)

MATCHING = {
    "(": ")", "[": "]", "{": "}", "|": "|", "‖": "‖", "⦀": "⦀", "⌊": "⌋", "⌈": "⌉", "〈": "〉", "⟨": "⟩", "∥": "∥",
    "⟦": "⟧", "⦃": "⦄", "⦇": "⦈", "⟪": "⟫",
}  # fmt: skip
"""The closing delimiter that matches an opening one."""

_AROUND_ONE = {
    "{}": "set", "||": "absolute-value", "‖‖": "norm", "⌊⌋": "floor", "⌈⌉": "ceiling", "<>": "expectation",
    "<|": "bra", "|>": "ket",
}  # fmt: skip
_AROUND_TWO = {
    "(,)": "open-interval", "[,]": "closed-interval", "(,]": "open-closed-interval", "[,)": "closed-open-interval",
    "{,}": "set",
}  # fmt: skip
_AROUND_MANY = {"(,)": "vector", "{,}": "set"}

LIST, FORMULAE, MULTIRELATION = operator("list"), operator("formulae"), operator("multirelation")
LIMIT_FROM, ANNOTATED = operator("limit-from"), operator("annotated")

_SCRIPT_OPERATORS = {
    (role, position, level): Node(TOKEN, role, position=position, level=level)
    for role in ("SUPERSCRIPTOP", "SUBSCRIPTOP")
    for position in ("pre", "mid", "post")
    for level in range(8)
}


def script_operator(role: str, position: str, level: int) -> Node:
    """Return the operator that puts a script in its place; common ones are shared."""
    known = _SCRIPT_OPERATORS.get((role, position, level))
    return known or Node(TOKEN, role, position=position, level=level)


def is_script_application(node: Node) -> bool:
    """Return True if the node is a base with a script."""
    return node.kind == APPLY and node.children[0].role in ("SUPERSCRIPTOP", "SUBSCRIPTOP")


def scripted(base: Node, script: Node, position: str = "") -> Node:
    """Return the base with one more script; its position depends on the base and on the braces between them."""
    floating = script.role.startswith("FLOAT")
    level = script.level
    if not position:
        if floating:
            position = "pre"
        else:
            inner = base
            if base.kind == DUAL or is_script_application(base):
                inner = base.children[0]
            base_position = base.position or inner.position or "post"
            base_level = base.level or (inner.level if inner is not base else 0) or level
            position = base_position if base_level == level else "post"
    bump = 0
    if base.floated:
        level += 1
        bump = level
    elif base.bump:
        level = base.bump
    role = "SUPERSCRIPTOP" if script.role.endswith("SUPERSCRIPT") else "SUBSCRIPTOP"
    node = apply(script_operator(role, position, level), base, script.children[0])
    node.floated, node.bump = floating, bump
    return node


def decorated(symbol: Node, script: Node) -> Node:
    """Return an operator with a script; it keeps its role."""
    node = scripted(symbol, script)
    node.role = symbol.role
    return node


def items_of(parts: Sequence[Node]) -> list[Node]:
    """Return the items of a sequence in which items and separators alternate."""
    return list(parts[::2])


def listed(parts: Sequence[Node]) -> Node:
    """Return items separated by punctuation: a list, or the only item."""
    if len(parts) > 1 and parts[-1] is ABSENT:
        parts = parts[:-1]
    if len(parts) == 1:
        return parts[0]
    return dual(apply(LIST, *items_of(parts)), row(parts))


def formulae(parts: Sequence[Node]) -> Node:
    """Return formulas separated by punctuation."""
    if len(parts) == 1:
        return parts[0]
    return dual(apply(FORMULAE, *items_of(parts)), row(parts))


def relation(parts: Sequence[Node]) -> Node:
    """Return sides and relations in turn: one relation, or a chain of them."""
    if len(parts) == 1:
        return parts[0]
    if len(parts) == 3:
        return apply(parts[1], parts[0], parts[2])
    return apply(MULTIRELATION, *parts)


def delimited_application(function: Node, parts: Sequence[Node]) -> Node:
    """Return a function with fenced arguments: opening, arguments and separators in turn, closing."""
    return dual(apply(function, *items_of(parts[1:-1])), apply(function, row(parts)))


def interpreted(head: Node, parts: Sequence[Node]) -> Node:
    """Return a fenced list that means an operator applied to its items."""
    return dual(apply(head, *items_of(parts[1:-1])), row(parts))


def fence(parts: Sequence[Node]) -> Node:
    """Return opening, items and separators in turn, closing: an interval, a set, an absolute value, or just a group."""
    opening, closing = parts[0].text, parts[-1].text
    count = (len(parts) - 1) // 2
    if count == 0:
        meaning: str | None = "list"
    elif count == 1:
        meaning = _AROUND_ONE.get(opening + closing)
    else:
        table = _AROUND_TWO if count == 2 else _AROUND_MANY
        meaning = table.get(opening + parts[2].text + closing, "list")
    if meaning is None:
        if opening == "(" and closing == ")":
            return dual(parts[1], row(parts))
        meaning = f"delimited-{opening}{closing}"
    return interpreted(operator(meaning), parts)


def is_matching(opening: Node, closing: Node) -> bool:
    """Return True if the two delimiters are a pair."""
    return MATCHING.get(opening.text) == closing.text


def same_operator(left: Node, right: Node) -> bool:
    """Return True if two operators look the same, so that `a + b + c` is one sum; with scripts they never do."""
    return left is right or (
        left.kind == right.kind == TOKEN and left.text == right.text and left.key == right.key
    )


def _written_again(sign: Node, again: Node) -> Node:
    """Return an operator that is written once more, with both places if they are known."""
    if not sign.places:
        return sign
    both = sign.with_role(sign.role)
    return both.written_as([sign, again])


def left_associated(terms: Sequence[Node], operators: Sequence[Node]) -> Node:
    """Return terms joined from the left; neighbours with the same operator share one application."""
    result, position = terms[0], 0
    while position < len(operators):
        sign = operators[position]
        operands = [result, terms[position + 1]]
        position += 1
        while position < len(operators) and same_operator(sign, operators[position]):
            operands.append(terms[position + 1])
            sign = _written_again(sign, operators[position])
            position += 1
        result = apply(sign, *operands)
    return result


class Product:
    """Collects factors from the left; a factor joined by the same operator is added to the application."""

    __slots__ = ("factors", "sign")

    def __init__(self, first: Node) -> None:
        self.factors = [first]
        self.sign: Node | None = None
        if first.kind == APPLY and not first.enclosure:
            head = first.children[0]
            if head is INVISIBLE_TIMES or head.role in ("MULOP", "BINOP"):
                self.sign = head
                self.factors = list(first.children[1:])

    def join(self, sign: Node, factor: Node) -> None:
        """Add a factor."""
        if self.sign is None:
            self.sign = sign
        elif not same_operator(self.sign, sign):
            self.factors = [apply(self.sign, *self.factors)]
            self.sign = sign
        else:
            self.sign = _written_again(self.sign, sign)
        self.factors.append(factor)

    def node(self) -> Node:
        """Return the application, or the only factor."""
        return self.factors[0] if self.sign is None else apply(self.sign, *self.factors)


def morphed_bar(bar: Node, role: str) -> Node:
    """Return a vertical bar in its role: as a delimiter the double bar is `‖`, between operands it is `∥`."""
    if role == "PUNCT":
        text = {"|": "∣", "‖": "∥"}.get(bar.text, bar.text)
    else:
        text = {"∥": "‖"}.get(bar.text, bar.text)
    changed = bar.with_role(role)
    changed.text = text
    return changed


def evaluated(base: Node, bar: Node, scripts: Sequence[Node]) -> Node:
    """Return an expression followed by a bar with bounds: lower bound first, then the upper."""
    shown = row((base, bar.with_role("CLOSE")))
    for script in scripts:
        shown = scripted(shown, script)
    content = apply(operator("evaluated-at"), base, *(script.children[0] for script in scripts))
    return dual(content, shown)


def joined_relation(first: Node, second: Node) -> Node:
    """Return two relation signs that are one: `<<`, `>=`."""
    meaning = f"much-{first.key}" if first.key == second.key else f"{first.key}-or-{second.key}"
    return operator(meaning, first.text + second.text, "RELOP")
