"""`Item`: a node of a list, or a `Group` of those between two delimiters, and what can be asked of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

from mathamr.core.listing import names
from mathamr.formulas.latex.content import identifier
from mathamr.formulas.latex.fonts import PLAIN, variant
from mathamr.formulas.latex.grammar.rules import role_of
from mathamr.formulas.latex.node import APPLY, DUAL, HINT, TOKEN, Node, apply, operator
from mathamr.formulas.latex.symbols import FUNCTIONS, SYMBOLS

_UNSPELLED = names("Pr coth hom inf injlim lg liminf limsup projlim sup")
_SPELLED = re.compile("|".join(sorted(FUNCTIONS - _UNSPELLED, key=len, reverse=True)))
"""Functions whose backslash is often forgotten."""
_CLOSING = {"(": ")]", "[": ")]", "{": "}", "⟨": "⟩", "⌊": "⌋", "⌈": "⌉", "|": "|", "∥": "∥", "‖": "‖"}
PARTIAL = "partial-differential"
SCRIPTS = frozenset(["POSTSUPERSCRIPT", "POSTSUBSCRIPT", "FLOATSUPERSCRIPT", "FLOATSUBSCRIPT"])
RELATIONS = frozenset(["RELOP", "ARROW", "METARELOP", "VERTBAR", "MIDDLE"])
PUNCTUATION = frozenset(["PUNCT", "PERIOD"])
NAMED = frozenset(["FUNCTION", "OPFUNCTION", "TRIGFUNCTION"])
_BEFORE_OPERANDS = RELATIONS - {"VERTBAR", "MIDDLE"} | PUNCTUATION | NAMED | {
    "ADDOP", "MULOP", "BINOP", "MODIFIEROP", "LIMITOP", "SUMOP", "INTOP", "BIGOP", "OPERATOR", "DIFFOP",
}  # fmt: skip


class UnreadableError(Exception):
    """A list that this reading cannot follow; it keeps its published tree."""


class Group:
    """The content between two delimiters."""

    __slots__ = ("closing", "items", "opening")
    role: ClassVar[str] = "GROUP"
    text: ClassVar[str] = ""

    def __init__(self, opening: str, items: list[Item] | None = None) -> None:
        self.opening, self.closing = opening, ""
        self.items: list[Item] = items or []


Item = Node | Group


def item_role(item: Item) -> str:
    """Return the role of an item."""
    return item.role or role_of(item)  # type: ignore[arg-type]


def is_sign(item: Item | None, *keys: str) -> bool:
    """Return True for a token with one of these meanings or characters."""
    return isinstance(item, Node) and item.kind == TOKEN and (item.key in keys or item.text in keys)


def is_letter(item: Item | None) -> bool:
    """Return True for a letter or another name."""
    return (
        isinstance(item, Node) and item.kind == TOKEN and item.role in ("UNKNOWN", "ID") and bool(item.text)
    )


def letter_name(node: Node) -> str:
    """Return the name of a letter: itself, or in another alphabet its Unicode character."""
    return node.text if variant(node.font) in ("italic", "") else identifier(node)


def names_set(item: Item | None) -> bool:
    """Return True for a letter that always names a set: blackboard, Fraktur, script."""
    if not isinstance(item, Node) or not is_letter(item):
        return False
    family, text = item.font.family, item.text
    return (
        text in "ℝℕℤℂℚ"
        or (family == "blackboard" and text not in "PE1")
        or (family in ("fraktur", "caligraphic", "script") and text.isupper() and text not in "OL")
    )


def is_relation(item: Item) -> bool:
    """Return True for a sign between the sides of a relation."""
    return item_role(item) in RELATIONS


def is_middle(item: Item) -> bool:
    """Return True for a bar."""
    return item_role(item) in ("VERTBAR", "MIDDLE")


def is_colon(item: Item) -> bool:
    """Return True for a colon."""
    return is_sign(item, "colon", ":")


def is_differential(item: Item, *, partial: bool) -> bool:
    """Return True for the `d` or `∂` of a differential."""
    if partial:
        return is_sign(item, PARTIAL)
    return isinstance(item, Node) and item.text == "d" and item.role in ("UNKNOWN", "ID", "DIFFOP")


def find_item(items: Sequence[Item], wanted: Callable[[Item], bool], start: int = 0) -> int:
    """Return the place of the first item that is wanted, or -1."""
    return next((place for place in range(start, len(items)) if wanted(items[place])), -1)


def split_items(items: Sequence[Item], is_separator: Callable[[Item], bool]) -> list[list[Item]]:
    """Return the items between separators."""
    pieces: list[list[Item]] = [[]]
    for item in items:
        if is_separator(item):
            pieces.append([])
        else:
            pieces[-1].append(item)
    return pieces


def list_parts(items: Sequence[Item]) -> list[list[Item]]:
    """Return the items between commas and semicolons."""
    return [piece for piece in split_items(items, lambda item: item_role(item) == "PUNCT") if piece]


def scripts_end(items: Sequence[Item], start: int) -> int:
    """Return the place after the scripts that begin at a place."""
    while start < len(items) and item_role(items[start]) in SCRIPTS:
        start += 1
    return start


def letters_in(items: Sequence[Item]) -> Iterator[Node]:
    """Yield the letters of items and of what is inside them."""
    stack = list(items)
    while stack:
        item = stack.pop()
        if isinstance(item, Group):
            stack.extend(item.items)
        elif is_letter(item):
            yield item
        elif item.kind == APPLY or item.source:
            stack.extend(item.source or item.children[1:])


def group_items(nodes: Sequence[Node]) -> list[Item]:
    """Return a list with everything between two delimiters as one item; raise if they do not match."""
    stack = [Group("")]
    for node in nodes:
        kind = role_of(node)
        if kind == "OPEN":
            stack.append(Group(node.text))
        elif kind == "CLOSE":
            group = stack.pop()
            if not stack or node.text not in _CLOSING.get(group.opening, ""):
                raise UnreadableError
            group.closing, group.items = node.text, _barred(group.items)
            stack[-1].items.append(group)
        else:
            stack[-1].items.append(node)
    while len(stack) > 1 and stack[-1].opening == "{" and stack[-1].items and _is_table(stack[-1].items[0]):
        table, *rest = stack.pop().items
        stack[-1].items += [apply(operator("cases"), table) if isinstance(table, Node) else table, *rest]
    if len(stack) > 1:
        raise UnreadableError
    return _barred(stack[0].items)


def _is_table(item: Item) -> bool:
    return isinstance(item, Node) and (item.kind == DUAL or role_of(item) == "ARRAY")


def _doubled(items: list[Item]) -> list[Item]:
    """Return the list with two bars side by side as one sign where they are its only bars and stand between operands: `a || b`."""
    bars = [place for place, item in enumerate(items) if item_role(item) == "VERTBAR"]
    first, last = (bars[0], bars[-1]) if len(bars) == 2 else (0, 0)
    if not 0 < first == last - 1 < len(items) - 2 or item_role(items[first - 1]) in _BEFORE_OPERANDS:
        return items
    if not all(is_sign(items[place], "|") for place in bars):
        return items
    return [*items[:first], Node(TOKEN, "VERTBAR", "∥"), *items[last + 1 :]]


def _barred(items: list[Item]) -> list[Item]:
    """Return the list with absolute values and norms as groups; a bar after an operand closes an open one."""
    items = _doubled(items)
    left = sum(item_role(item) == "VERTBAR" for item in items)
    if not left:
        return items
    stack = [Group("")]
    for place, item in enumerate(items):
        if not isinstance(item, Node) or item_role(item) != "VERTBAR" or item.text not in "|∥‖":
            stack[-1].items.append(item)
            continue
        inner = stack[-1].items
        behind_operand = bool(inner) and item_role(inner[-1]) not in _BEFORE_OPERANDS
        followed = place + 1 < len(items) and item_role(items[place + 1]) in SCRIPTS
        if behind_operand and stack[-1].opening == item.text:
            group = stack.pop()
            group.closing = item.text
            only = group.items[0] if len(group.items) == 1 else None
            if isinstance(only, Group) and only.opening == group.opening == "|":
                only.opening = only.closing = "‖"
                group = only
            stack[-1].items.append(group)
        elif not behind_operand or (left % 2 == 0 and not followed):
            stack.append(Group(item.text))
        else:
            inner.append(item)
        left -= 1
    if len(stack) > 1:
        raise UnreadableError
    return stack[0].items


def join_letters(nodes: Sequence[Node]) -> list[Node]:
    """Return the list without space, with letters that spell functions as one node: `sinx`, `sinxcosx`, but not `xsin`."""
    shown = [node for node in nodes if node.kind != HINT or node.role]
    result: list[Node] = []
    place = 0
    may_spell = True
    while place < len(shown):
        node = shown[place]
        if not _is_plain(node):
            may_spell = True
        elif may_spell:
            end = place
            while end < len(shown) and end < place + 6 and _is_plain(shown[end]):
                end += 1
            found = _SPELLED.match("".join(each.text for each in shown[place:end]))
            if found and place + len(found[0]) < len(shown):
                known = SYMBOLS["\\" + found[0]]
                key = known.meaning or known.name
                result.append(Node(TOKEN, known.role, known.text, known.meaning, PLAIN, key=key))
                place += len(found[0])
                continue
            may_spell = bool(result) and result[-1].role in NAMED
        result.append(node)
        place += 1
    return result


def _is_plain(node: Node) -> bool:
    return is_letter(node) and len(node.text) == 1 and node.font.family == "math"
