"""`MeaningGrammar`: the interface between the modules of this reading, so that none needs to import the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mathamr.formulas.latex.node import Node
from mathamr.formulas.semantics.decision import DecisionNotes
from mathamr.formulas.semantics.items import Group, Item


class MeaningGrammar(Protocol):
    """One reading of one formula."""

    notes: DecisionNotes

    def node(self, node: Node) -> Node:
        """Returns the meaning of a node of the list; a node that was made from a list is read again."""

    def formula(self, items: Sequence[Item]) -> Node:
        """Returns the meaning of a list: formulas, relations, sums."""

    def sum(self, items: Sequence[Item]) -> Node:
        """Returns the meaning of a list without relations."""

    def product(self, items: Sequence[Item]) -> Node:
        """Returns the meaning of a list without signs between terms."""

    def fence(self, group: Group) -> Node:
        """Returns the meaning of a group."""

    def settled(self, node: Node) -> Node:
        """Makes a node that was read already usable in a list that is being read."""

    def items(self, node: Node) -> list[Item]:
        """Returns the items of the list that a node was made from."""
