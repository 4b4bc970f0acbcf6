"""`Slt` and `Opt`: immutable trees, stored flat so that depth never costs recursion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree in depth-first order: node 0 is the root, each node comes after its parent.

    `edges[i]` is the one-character edge that leads from `parents[i]` to node `i`; the root's edge is ``-`` and
    its parent -1. Children are listed in the order of the Tangent string.
    """

    labels: tuple[str, ...]
    parents: tuple[int, ...]
    edges: str

    def __len__(self) -> int:
        return len(self.labels)

    def children(self) -> list[list[int]]:
        """For every node the numbers of its children, in order."""
        children: list[list[int]] = [[] for _ in self.labels]
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                children[parent].append(node)
        return children

    def triples(self) -> Iterator[tuple[int, str, int]]:
        """Every edge as (parent, letter, child)."""
        for node in range(1, len(self.labels)):
            yield self.parents[node], self.edges[node], node


class Slt(Tree):
    """Symbol layout tree: where the symbols stand. Edges n a b o u c d e w."""

    __slots__ = ()


class Opt(Tree):
    """Operator tree: what is applied to what. Edges 0-9, A-Z, a-z number the operands."""

    __slots__ = ()
