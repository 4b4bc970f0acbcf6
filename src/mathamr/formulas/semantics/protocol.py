"""`MeaningGrammar`: what the modules of this reading ask of each other, so that none needs to import its neighbours."""

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
        """What a node of the list means, read anew where it was made of a list."""

    def formula(self, items: Sequence[Item]) -> Node:
        """What a list means: formulas, relations, sums."""

    def sum(self, items: Sequence[Item]) -> Node:
        """What a list without relations means."""

    def product(self, items: Sequence[Item]) -> Node:
        """What a list without signs between terms means."""

    def fence(self, group: Group) -> Node:
        """What a group means."""

    def settled(self, node: Node) -> Node:
        """A node that has been read, to stand in a list that is being read."""

    def items(self, node: Node) -> list[Item]:
        """The items of the list that a node was made of."""
