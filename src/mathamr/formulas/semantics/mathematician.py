"""`Mathematician`: the complete reading, from a formula's nodes to nodes that express its meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mathamr.formulas.budget import Budget, SpentError
from mathamr.formulas.latex.grammar.rules import TooDeepError
from mathamr.formulas.latex.node import APPLY, ARRAY, DUAL, HINT, ROW, TEXT, TOKEN, Node, apply, operator, row
from mathamr.formulas.semantics.bracketed import fenced
from mathamr.formulas.semantics.decision import EMPTY, Context, Decision, DecisionNotes
from mathamr.formulas.semantics.derivatives import derivative, is_fraction
from mathamr.formulas.semantics.items import Group, Item, UnreadableError, grouped
from mathamr.formulas.semantics.joining import joined
from mathamr.formulas.semantics.logic import formula
from mathamr.formulas.semantics.nodes import words
from mathamr.formulas.semantics.products import multiplied
from mathamr.formulas.semantics.sums import summed
from mathamr.formulas.semantics.traits import SYMBOL, item_traits

MAX_DEPTH = 60
"""The maximum nesting of lists; a formula nested deeper keeps its published tree."""

_ACCENTS = {
    "^": "hat", "¯": "bar", "~": "tilde", "→": "vec", "˙": "dot", "¨": "ddot", "ˇ": "check", "˘": "breve",
}  # fmt: skip
_DOTS = frozenset("…⋯")
_SAME_DOTS = Node(TOKEN, "ID", "…")
_AS_SUM, _AS_PRODUCT = 6, 3
"""The cost of reading a list of one item as a sum, and as a product."""
_TRANSPARENT = frozenset(["⏞", "⏟", "⎴", "⎵"])
"""Commands without a meaning: braces above and below."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of a formula, its decisions, and what it says about its letters."""

    node: Node
    decisions: tuple[Decision, ...]
    functions: frozenset[str]
    variables: frozenset[str]


KEPT = Decision("formula", "the published reading", "it is too large or nested too deeply")


def meaning(node: Node, budget: Budget, context: Context = EMPTY) -> Meaning:
    """Reads a formula like a mathematician; one that exceeds its budget keeps its published tree.

    If a letter turns out to be a function after it was read as something else, the formula is read again.
    """
    notes = DecisionNotes(budget, context)
    try:
        found = Mathematician(notes).read(node)
        if notes.functions & notes.doubted:
            notes = DecisionNotes(budget, context, functions=set(notes.functions))
            found = Mathematician(notes).read(node)
    except (SpentError, TooDeepError, RecursionError):
        return Meaning(node, (KEPT,), frozenset(), frozenset())
    return Meaning(
        found,
        tuple(notes.decisions),
        frozenset(notes.functions),
        frozenset(notes.variables - notes.functions),
    )


class Mathematician:
    """One reading of one formula, which connects the other modules of this package."""

    def __init__(self, notes: DecisionNotes) -> None:
        self.notes = notes
        self._depth = 0
        self._known: dict[int, tuple[Node, Node]] = {}
        self._lists: dict[int, tuple[Node, list[Item]]] = {}
        # by identity; the node itself is stored beside its meaning, so that no other node gets its identity

    def read(self, node: Node) -> Node:
        """Reads the complete formula."""
        return self.node(node)

    def node(self, node: Node) -> Node:
        """Returns the meaning of a node of the list; a node that was made from a list is read again."""
        if node.kind == TOKEN:
            return _SAME_DOTS if node.text in _DOTS and node.role == "ID" else node
        known = self._known.get(id(node))
        if known is None:
            self._descend()
            known = self._known[id(node)] = (node, self._read(node))
            self._depth -= 1
        return known[1]

    def settled(self, node: Node) -> Node:
        """Makes a node that was read already usable in a list that is being read."""
        self._known[id(node)] = (node, node)
        return node

    def formula(self, items: Sequence[Item]) -> Node:
        """Returns the meaning of a list: formulas, relations, sums."""
        self._descend()
        node = formula(items, self)
        self._depth -= 1
        return node

    def sum(self, items: Sequence[Item]) -> Node:
        """Returns the meaning of a list without relations."""
        if len(items) == 1 and isinstance(only := items[0], Node) and self._is_itself(only, _AS_SUM):
            return self.node(only)
        self._descend()
        node = summed(items, self)
        self._depth -= 1
        return node

    def product(self, items: Sequence[Item]) -> Node:
        """Returns the meaning of a list without signs between terms."""
        if len(items) == 1 and isinstance(only := items[0], Node) and self._is_itself(only, _AS_PRODUCT):
            return self.node(only)
        self._descend()
        node = multiplied(items, self)
        self._depth -= 1
        return node

    def fence(self, group: Group) -> Node:
        """Returns the meaning of a group."""
        return fenced(group, self)

    def items(self, node: Node) -> list[Item]:
        """Returns the items of the list that a node was made from; a list that cannot be followed is one item."""
        if not node.source:
            return self.items(node.children[0]) if node.kind == DUAL else [node]
        known = self._lists.get(id(node))
        if known is None:
            self.notes.budget.spend(1 + len(node.source))
            try:
                items = grouped(joined(node.source, self.notes))
            except UnreadableError as error:
                self.notes.decide("formula", "the published reading", str(error))
                items = [self.settled(_closed(node))]
            known = self._lists[id(node)] = (node, items)
        return known[1]

    def _is_itself(self, node: Node, steps: int) -> bool:
        """True if a list of one node means just that symbol; spends the steps that reading it would take."""
        if node.kind != TOKEN or not item_traits(node) & SYMBOL or self._depth + 2 > MAX_DEPTH:
            return False
        self.notes.budget.spend(steps)
        return True

    def _descend(self) -> None:
        self.notes.budget.spend()
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise TooDeepError

    def _read(self, node: Node) -> Node:
        if node.source:
            return self.formula(self.items(node))
        if node.kind == DUAL:
            return self.node(node.children[0])
        if node.kind == APPLY:
            return self._application(node)
        if node.kind == ARRAY:
            return self._table(node)
        if node.kind == TEXT:
            return words(node)
        return node

    def _application(self, node: Node) -> Node:
        """Reads the result of a command: a fraction, an accent, a root, a binomial."""
        head, *operands = node.children
        if node.meaning or node.role == "ID" or not operands:
            return node
        if is_fraction(node):
            found = derivative(self.items(operands[0]), self.items(operands[1]), self)
            if found is not None:
                return found
        if head.role in ("OVERACCENT", "UNDERACCENT") and head.kind == TOKEN:
            if head.text in _TRANSPARENT:
                return self.node(operands[0])
            name = _ACCENTS.get(head.text) if head.role == "OVERACCENT" else None
            if name is not None:
                return apply(operator(name), self.node(operands[0]))
        made = node.with_role(node.role)
        made.source = ()
        made.children = (head, *(self.node(operand) for operand in operands if operand.kind != HINT))
        return made

    def _table(self, node: Node) -> Node:
        made = node.with_role(node.role)
        made.children = [row([self.node(cell) for cell in line.children]) for line in node.children]
        return made


def _closed(node: Node) -> Node:
    """Returns the published node, which is not taken apart again."""
    shut = row(node.children) if node.kind == ROW else node.with_role(node.role)
    shut.source = ()
    return shut
