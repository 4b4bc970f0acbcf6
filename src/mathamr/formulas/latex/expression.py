"""A list of nodes as one expression: joined, parsed, or left as a row with its parentheses grouped."""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.formulas.budget import Budget
from mathamr.formulas.latex.assembly import scripted
from mathamr.formulas.latex.grammar.formulas import Grammar
from mathamr.formulas.latex.grammar.rules import MAX_DEPTH, TooDeepError, role_of
from mathamr.formulas.latex.ligatures import joined
from mathamr.formulas.latex.node import ABSENT, HINT, SCRIPT, TOKEN, Node, dual, row

_POST = frozenset(["POSTSUPERSCRIPT", "POSTSUBSCRIPT"])
LAST_SHOWN = SCRIPT
"""Kinds up to this one are mathematics; the others are space and unreadable input."""
_FLOAT = frozenset(["FLOATSUPERSCRIPT", "FLOATSUBSCRIPT"])


def expression(
    nodes: Sequence[Node], budget: Budget, rule: str = "Anything", *, trailing: bool = False
) -> Node:
    """Join the nodes to one node; `trailing` allows punctuation at the end, which belongs to the surrounding text."""
    if len(nodes) == 1 and nodes[0].kind <= LAST_SHOWN and not trailing:
        return nodes[0]
    budget.spend(len(nodes))
    prepared = joined(nodes) if len(nodes) > 1 else list(nodes)
    end = len(prepared)
    if trailing:
        while end and prepared[end - 1].role in ("PUNCT", "PERIOD"):
            end -= 1
    if end < 2:
        result = prepared[0] if end else ABSENT
        if result.kind == HINT:
            result = ABSENT
    else:
        found: Node | None
        try:
            found = Grammar(prepared[:end] if end < len(prepared) else prepared, budget).parse(rule)
        except TooDeepError:
            found = None
        if found is None:
            result = row(grouped(prepared))
            result.source = prepared
            return result
        result = found
        if result.kind != TOKEN:
            result.source = prepared[:end]
    if end < len(prepared):
        return dual(result, row((result, *prepared[end:])))
    return result


def grouped(nodes: Sequence[Node]) -> list[Node]:
    """Group what the grammar could not parse: delimiters in rows of their own, scripts on the node before them."""
    stack: list[list[Node]] = [[], []]
    position = too_deep = 0
    while position < len(nodes) or len(stack) > 1:
        node = nodes[position] if position < len(nodes) else None
        position += 1
        role = "CLOSE" if node is None else role_of(node)
        if role == "OPEN" and node is not None and len(stack) <= MAX_DEPTH + 1:
            stack.append([node])
        elif node is not None and (role == "OPEN" or (role == "CLOSE" and too_deep)):
            too_deep += 1 if role == "OPEN" else -1
            stack[-1].append(node)
        elif role == "CLOSE":
            line = stack.pop()
            if node is not None:
                line.append(node)
            inner = _with_scripts(line)
            if not stack:
                stack.append([])
            if len(inner) != 1:
                stack[-1].append(row(inner, "FENCED"))
            else:
                stack[-1].append(inner[0])
        elif node is not None:
            stack[-1].append(node)
    result: list[Node] = []
    for node in stack[0]:
        result.extend(node.children if node.role == "FENCED" else (node,))
    return result


def _with_scripts(line: Sequence[Node]) -> list[Node]:
    """Attach scripts to the node before them, or before their base if they float."""
    result: list[Node] = []
    position, count = 0, len(line)
    while position < count:
        before: list[Node] = []
        node = line[position]
        while node.role in _FLOAT and position + 1 < count:
            before.append(node)
            position += 1
            if line[position].role in _POST:
                before.append(line[position])
                position += 1
                if position == count:
                    node = scripted(scripted(ABSENT, before.pop(), "post"), before.pop(), "post")
                    break
            node = line[position]
        position += 1
        while position < count and line[position].role in _POST:
            node = scripted(node, line[position])
            position += 1
        for script in reversed(before):
            node = scripted(node, script, "pre")
        result.append(node)
    return result
