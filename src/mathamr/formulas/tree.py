"""`Slt` and `Opt`: immutable trees, stored flat so that depth never costs recursion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

SLT_EDGES = "nabcdouwe"
"""Edges of a layout tree, in the order of a node's children: next on the base line, above, below, above and
below before, over, under, within, next element."""

OPT_EDGES = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
"""Edges of an operator tree: the number of the operand."""


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

    def __hash__(self) -> int:
        return hash((type(self), self.labels, self.parents, self.edges))

    def children(self) -> list[list[int]]:
        """Return for every node the numbers of its children, in order."""
        children: list[list[int]] = [[] for _ in self.labels]
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                children[parent].append(node)
        return children

    def triples(self) -> Iterator[tuple[int, str, int]]:
        """Yield every edge as (parent, letter, child)."""
        for node in range(1, len(self.labels)):
            yield self.parents[node], self.edges[node], node

    def depths(self) -> list[int]:
        """Return for every node how many edges lead to it from the root."""
        depths = [0] * len(self.labels)
        for node in range(1, len(depths)):
            depths[node] = depths[self.parents[node]] + 1
        return depths

    def sizes(self) -> list[int]:
        """Return for every node how many nodes its subtree has, itself included."""
        sizes = [1] * len(self.labels)
        for node in range(len(sizes) - 1, 0, -1):
            sizes[self.parents[node]] += sizes[node]
        return sizes


class Slt(Tree):
    """Symbol layout tree: where the symbols stand. Edges n a b c d o u w e."""

    __slots__ = ()


class Opt(Tree):
    """Operator tree: what is applied to what. Edges 0-9, A-Z, a-z number the operands."""

    __slots__ = ()
