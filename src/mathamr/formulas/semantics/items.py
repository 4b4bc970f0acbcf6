"""Items: the nodes of a list, with everything between two delimiters as one item."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from mathamr.formulas.latex.grammar.rules import role_of
from mathamr.formulas.latex.node import DUAL, TEXT, TOKEN, Node, apply, operator
from mathamr.formulas.semantics.traits import (
    DELIMITER,
    GROUP,
    MIDDLE,
    SCRIPTED,
    SCRIPTS,
    grammatical_role,
    item_traits,
    traits_of,
)

_CLOSING = {"(": ")]", "[": ")]", "{": "}", "⟨": "⟩", "⌊": "⌋", "⌈": "⌉", "|": "|", "∥": "∥", "‖": "‖"}
_BARS = frozenset(["|", "∥", "‖"])
SIGNS = frozenset(["ADDOP", "MULOP", "BINOP", "RELOP", "ARROW", "METARELOP", "MODIFIEROP", "PUNCT", "PERIOD"])
_BEFORE_OPERANDS = SIGNS | {
    "FUNCTION",
    "OPFUNCTION",
    "TRIGFUNCTION",
    "LIMITOP",
    "SUMOP",
    "INTOP",
    "BIGOP",
    "OPERATOR",
    "DIFFOP",
}


class UnreadableError(Exception):
    """A list that this reading cannot follow; it keeps its published tree."""


@dataclass(slots=True, eq=False)
class Group:
    """The content between two delimiters. `use` is its role in the surrounding formula: an interval, a gcd."""

    opening: str
    closing: str
    items: list[Item] = field(default_factory=list)
    use: str = ""
    traits: ClassVar[int] = GROUP


Item = Node | Group


def role(item: Item) -> str:
    """Returns the role of an item; a group has its own."""
    return "GROUP" if isinstance(item, Group) else grammatical_role(item)


def is_group(item: Item, openings: str = "(") -> bool:
    """True if the item is a group with one of the openings."""
    return isinstance(item, Group) and item.opening in openings


def is_sign(item: Item, *keys: str) -> bool:
    """True if the item is a symbol with one of the meanings or characters."""
    return isinstance(item, Node) and item.kind == TOKEN and (item.key in keys or item.text in keys)


def is_middle(item: Item) -> bool:
    """True if the item is a bar between two operands."""
    return bool(item_traits(item) & MIDDLE)


def is_words(item: Item) -> bool:
    """True if the item is text."""
    return isinstance(item, Node) and item.kind == TEXT


def split(items: Sequence[Item], is_separator: Callable[[Item], bool]) -> list[list[Item]]:
    """Returns the pieces between separators."""
    pieces: list[list[Item]] = [[]]
    for item in items:
        if is_separator(item):
            pieces.append([])
        else:
            pieces[-1].append(item)
    return pieces


def place(items: Sequence[Item], wanted: Callable[[Item], bool], start: int = 0) -> int:
    """Returns the position of the first wanted item, or -1."""
    for position in range(start, len(items)):
        if wanted(items[position]):
            return position
    return -1


def scripts_end(items: Sequence[Item], start: int) -> int:
    """Returns the position after the scripts that begin at a place."""
    while start < len(items) and item_traits(items[start]) & SCRIPTED:
        start += 1
    return start


def grouped(nodes: Sequence[Node]) -> list[Item]:
    """Returns a list without space, with its groups; raises `UnreadableError` if delimiters do not match."""
    if not traits_of(nodes) & DELIMITER:
        return list(nodes)
    stack = [Group("", "")]
    for node in nodes:
        kind = role_of(node) if item_traits(node) & DELIMITER else ""
        if kind == "OPEN":
            stack.append(Group(node.text, ""))
        elif kind == "CLOSE":
            group = stack.pop()
            if not stack or node.text not in _CLOSING.get(group.opening, ""):
                raise UnreadableError(f"{node.text} closes nothing")
            group.closing = node.text
            group.items = _barred(group.items)
            stack[-1].items.append(group)
        else:
            stack[-1].items.append(node)
    while len(stack) > 1 and _is_cases(stack[-1]):
        table, *rest = stack.pop().items
        if isinstance(table, Node):
            stack[-1].items += [apply(operator("cases"), table), *rest]
    if len(stack) > 1:
        raise UnreadableError(f"{stack[-1].opening} is not closed")
    return _barred(stack[0].items)


def _is_cases(group: Group) -> bool:
    """True if there is a brace that is never closed before a table."""
    first = group.items[0] if group.items else None
    return (
        group.opening == "{" and isinstance(first, Node) and (role_of(first) == "ARRAY" or first.kind == DUAL)
    )


def _is_bar(item: Item) -> bool:
    return (
        bool(item_traits(item) & DELIMITER)
        and isinstance(item, Node)
        and role_of(item) == "VERTBAR"
        and item.text in _BARS
    )


def _barred(items: list[Item]) -> list[Item]:
    """Returns the list with absolute values and norms as groups; other bars are unchanged.

    A bar opens if there is nothing before it that it could close; after an operand it closes an open one, and
    opens only if an even number of bars is left.
    """
    left = sum(map(_is_bar, items)) if traits_of(items) & DELIMITER else 0
    if not left:
        return items
    stack = [Group("", "")]
    for position, item in enumerate(items):
        if not (isinstance(item, Node) and _is_bar(item)):
            stack[-1].items.append(item)
            continue
        inner = stack[-1].items
        behind_operand = bool(inner) and role(inner[-1]) not in _BEFORE_OPERANDS
        followed = position + 1 < len(items) and role(items[position + 1]) in SCRIPTS
        if behind_operand and stack[-1].opening == item.text:
            group = stack.pop()
            group.closing = item.text
            stack[-1].items.append(_norm(group))
        elif not behind_operand or (left % 2 == 0 and not followed):
            stack.append(Group(item.text, ""))
        else:
            inner.append(item)
        left -= 1
    if len(stack) > 1:
        raise UnreadableError("a bar is not closed")
    return stack[0].items


def _norm(group: Group) -> Group:
    """Reads `||x||` as a norm, not as an absolute value of one."""
    inner = group.items[0] if len(group.items) == 1 else None
    if group.opening == "|" and isinstance(inner, Group) and inner.opening == "|":
        return Group("‖", "‖", inner.items)
    return group
