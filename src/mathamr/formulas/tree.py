"""`Slt` and `Opt`: immutable trees, stored flat so that depth never costs recursion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from reprlib import repr as shortened
from typing import Any, Self

from mathamr.core.errors import MathAMRError

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

    @classmethod
    def checked(cls, labels: Sequence[str], parents: Sequence[int], edges: str) -> Self:
        """Check a tree from outside; the constructor itself trusts its caller."""
        if not labels or not len(labels) == len(parents) == len(edges):
            raise MathAMRError(
                f"a tree needs as many parents and edges as labels, and at least one: "
                f"{len(labels)} labels, {len(parents)} parents, {len(edges)} edges"
            )
        if parents[0] != -1 or edges[0] != "-":
            raise MathAMRError("node 0 of a tree must be its root: parent -1, edge -")
        known = cls._known_edges()
        path: list[int] = [0]
        used: set[tuple[int, str]] = set()
        for node in range(1, len(labels)):
            while path and path[-1] != parents[node]:
                path.pop()
            if not path:
                raise MathAMRError(
                    f"node {node} of a tree is not in depth-first order: parent {parents[node]}"
                )
            if edges[node] not in known:
                raise MathAMRError(f"node {node} of a tree hangs on an unknown edge {edges[node]!r}")
            if (parents[node], edges[node]) in used:
                raise MathAMRError(f"node {node} of a tree is a second child on edge {edges[node]!r}")
            used.add((parents[node], edges[node]))
            path.append(node)
        return cls(tuple(labels), tuple(parents), edges)

    @classmethod
    def _known_edges(cls) -> str:
        return SLT_EDGES + OPT_EDGES

    @classmethod
    def from_nested(cls, nested: Sequence[Any]) -> Self:
        """Build the tree that nested lists describe: `[label, [edge, child], [edge, child], …]`.

        >>> Slt.from_nested(["V!x", ["a", ["N!2"]]])
        Slt(labels=('V!x', 'N!2'), parents=(-1, 0), edges='-a')
        """
        labels: list[str] = []
        parents: list[int] = []
        edges: list[str] = []
        stack: list[tuple[Any, int, Any]] = [(nested, -1, "-")]
        while stack:
            item, parent, edge = stack.pop()
            if not isinstance(item, list | tuple) or not item or not isinstance(item[0], str):
                raise MathAMRError(f"a nested tree is [label, [edge, child], …], not {shortened(item)}")
            if not isinstance(edge, str) or len(edge) != 1:
                raise MathAMRError(f"an edge is one character, not {shortened(edge)}")
            node = len(labels)
            labels.append(item[0])
            parents.append(parent)
            edges.append(edge)
            for pair in reversed(item[1:]):
                if not isinstance(pair, list | tuple) or len(pair) != 2:
                    raise MathAMRError(f"a child is [edge, child], not {shortened(pair)}")
                stack.append((pair[1], node, pair[0]))
        return cls.checked(labels, parents, "".join(edges))

    def to_nested(self) -> list[Any]:
        """Return the tree as nested lists `[label, [edge, child], …]`, ready for JSON."""
        nested: list[list[Any]] = [[label] for label in self.labels]
        for parent, edge, node in self.triples():
            nested[parent].append([edge, nested[node]])
        return nested[0]

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
        """Return every edge as (parent, letter, child)."""
        for node in range(1, len(self.labels)):
            yield self.parents[node], self.edges[node], node

    def depths(self) -> list[int]:
        """Return for every node how many edges lead to it from the root."""
        depths = [0] * len(self.labels)
        for node in range(1, len(depths)):
            depths[node] = depths[self.parents[node]] + 1
        return depths

    def depth(self) -> int:
        """Return the number of edges between the root and the deepest node."""
        return max(self.depths())

    def sizes(self) -> list[int]:
        """Return for every node how many nodes its subtree has, itself included."""
        sizes = [1] * len(self.labels)
        for node in range(len(sizes) - 1, 0, -1):
            sizes[self.parents[node]] += sizes[node]
        return sizes

    def subtree(self, node: int) -> Self:
        """Return the tree that hangs on a node, which becomes its root.

        >>> Slt(("O!root", "V!x", "N!2"), (-1, 0, 1), "-wa").subtree(1)
        Slt(labels=('V!x', 'N!2'), parents=(-1, 0), edges='-a')
        """
        return self._cut(node, self.sizes()[node])

    def subtrees(self) -> Iterator[Self]:
        """Return the subtree of every node, in order; the first is the tree itself."""
        for node, size in enumerate(self.sizes()):
            yield self._cut(node, size)

    def _cut(self, node: int, size: int) -> Self:
        end = node + size
        parents = (-1, *(parent - node for parent in self.parents[node + 1 : end]))
        return type(self)(self.labels[node:end], parents, "-" + self.edges[node + 1 : end])


class Slt(Tree):
    """Symbol layout tree: where the symbols stand. Edges n a b c d o u w e."""

    __slots__ = ()

    @classmethod
    def _known_edges(cls) -> str:
        return SLT_EDGES


class Opt(Tree):
    """Operator tree: what is applied to what. Edges 0-9, A-Z, a-z number the operands."""

    __slots__ = ()

    @classmethod
    def _known_edges(cls) -> str:
        return OPT_EDGES
