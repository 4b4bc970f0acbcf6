"""`Reading`: what every level of the reading shares: each node is read once, and the nodes that only this reading makes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from mathamr.formulas.budget import Budget
from mathamr.formulas.latex.content import mean
from mathamr.formulas.latex.grammar.rules import TooDeepError
from mathamr.formulas.latex.node import (
    APPLY,
    DUAL,
    INVISIBLE_COMMA,
    INVISIBLE_TIMES,
    ROW,
    TEXT,
    TOKEN,
    Node,
    apply,
    operator,
    row,
)
from mathamr.formulas.mathml.element import Element
from mathamr.formulas.meaning.items import Item, UnreadableError, group_items, join_letters

MAX_DEPTH = 60
"""The maximum nesting of lists; a formula nested deeper keeps its published tree."""
_DOTS = Node(TOKEN, "ID", "…")
_APPLIED = operator("apply")


class Reading(ABC):
    """One reading of one formula; every level reads what binds tighter by the next one."""

    def __init__(self, budget: Budget) -> None:
        self._budget, self._depth = budget, 0
        self.functions: set[str] = set()
        """Letters that this formula applies, maps or differentiates."""
        self._known: dict[int, tuple[Node, Node]] = {}
        self._lists: dict[int, tuple[Node, list[Item]]] = {}
        """Lists and meanings by identity; the node is stored beside its meaning, so that no other node gets its identity."""

    def node(self, node: Node) -> Node:
        """Return the meaning of a node; one that was made from a list is read again."""
        if node.kind == TOKEN:
            return _DOTS if node.text in ("…", "⋯") and node.role == "ID" else node
        known = self._known.get(id(node))
        if known is None:
            self._budget.spend()
            self._depth += 1
            if self._depth > MAX_DEPTH:
                raise TooDeepError
            known = self._known[id(node)] = (node, self._read(node))
            self._depth -= 1
        return known[1]

    def settle(self, node: Node) -> Node:
        """Make a node that was read already usable in a list that is being read."""
        self._known[id(node)] = (node, node)
        return node

    def items(self, node: Node) -> list[Item]:
        """Return the items of the list that a node was made from; a list that cannot be followed is one item."""
        if not node.source:
            return self.items(node.children[0]) if node.kind == DUAL else [node]
        known = self._lists.get(id(node))
        if known is None:
            self._budget.spend(1 + len(node.source))
            try:
                items = group_items(join_letters(node.source))
            except UnreadableError:
                shut = row(node.children) if node.kind == ROW else node.with_role(node.role)
                shut.source = ()
                items = [self.settle(shut)]
            known = self._lists[id(node)] = (node, items)
        return known[1]

    @abstractmethod
    def _read(self, node: Node) -> Node:
        """Read a node that was not read yet."""

    @abstractmethod
    def formula(self, items: Sequence[Item]) -> Node:
        """Return the meaning of a list, from the loosest binding inwards."""

    @abstractmethod
    def sum(self, items: Sequence[Item]) -> Node:
        """Read a list without relations."""

    @abstractmethod
    def product(self, items: Sequence[Item], roles: set[str] | None = None) -> Node:
        """Read a list without signs between terms."""


def apply_named(name: str, *operands: Node) -> Node:
    """Return the application of an operator to operands."""
    return apply(operator(name), *operands)


def make_qualifier(tag: str, *operands: Node) -> Node:
    """Return a bound variable or a limit of Content MathML."""
    node = Node(APPLY, children=(operator(tag), *operands))
    node.content = Element(tag, "", [mean(operand) for operand in operands])
    return node


def make_words(node: Node) -> Node:
    """Return text as a node; the published operator tree leaves it out."""
    text = " ".join(node.text.split())
    if not text:
        return node
    made = Node(TEXT, text=text)
    made.content = Element("mtext", text)
    return made


def apply_function(head: Node, arguments: Sequence[Node]) -> Node:
    """Apply a function: a symbol carries its arguments itself, anything else is applied to them."""
    return apply(head, *arguments) if head.kind == TOKEN else apply(_APPLIED, head, *arguments)


def multiply(factors: Sequence[Node]) -> Node:
    """Return the product of factors; a factor that is itself a product is flattened into it."""
    flat: list[Node] = []
    for factor in factors:
        is_product = factor.kind == APPLY and factor.children[0] is INVISIBLE_TIMES and not factor.enclosure
        flat.extend(factor.children[1:] if is_product else [factor])
    return flat[0] if len(flat) == 1 else apply(INVISIBLE_TIMES, *flat)


def make_number(number: int) -> Node:
    """Return a whole number."""
    return Node(TOKEN, "NUMBER", str(number), str(number))


def separate(nodes: Sequence[Node]) -> list[Node]:
    """Return nodes with commas between them."""
    return [part for node in nodes for part in (node, INVISIBLE_COMMA)][:-1]
