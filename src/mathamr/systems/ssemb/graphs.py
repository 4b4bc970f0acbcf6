"""Operator graphs with shared subtrees, as arrays (SSEmb, section 2.1.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mathamr.core.arrays import AnyArray
from mathamr.formulas.tree import Opt
from mathamr.graphs.formulahashes import subtree_hashes
from mathamr.graphs.formulashard import FormulaLabels, FormulaTrees, folded


@dataclass(frozen=True, slots=True, eq=False)
class OperatorGraphs:
    """Graphs end to end: graph g has the nodes from `node_starts[g]` and the arcs from `arc_starts[g]` on.

    `sources` and `targets` are numbers within the graph, the root is node 0; `orders` are 0 for leaves, 1 for
    their parents, 2 for grandparents that are not parents of a leaf themselves, and 3 for all other nodes.
    """

    labels: AnyArray
    orders: AnyArray
    node_starts: AnyArray
    sources: AnyArray
    targets: AnyArray
    edges: AnyArray
    arc_starts: AnyArray

    @classmethod
    def of(cls, trees: Sequence[Opt], labels: FormulaLabels) -> OperatorGraphs:
        """Build the operator graphs of trees."""
        return cls.of_numbers(FormulaTrees.of(trees, labels, "opt"), distinct_labels(trees))

    @classmethod
    def of_numbers(cls, trees: FormulaTrees, distinct: AnyArray) -> OperatorGraphs:
        """Merge all identical subtrees of a tree into one node, with an arc for every use; operands of + and the like have no order.

        Subtrees are identified by 64-bit hashes, computed from the leaves upwards for all trees at once. They are compared by
        the `distinct` numbers of their labels, since labels that a model does not know share the number of their type.
        """
        owners, above = np.repeat(np.arange(len(trees)), np.diff(trees.starts)), trees.above()
        first_of, firsts = _shared(trees, distinct)
        node_starts = _starts(np.bincount(owners[firsts], minlength=len(trees)))
        place = np.full(len(owners), -1, np.int64)
        place[firsts] = np.arange(len(firsts)) - node_starts[owners[firsts]]
        # A shared node has the arcs of its first occurrence.
        used = np.flatnonzero((above >= 0) & (place[above] >= 0))
        return cls(
            trees.labels[firsts].astype(np.int32),
            _orders(above)[firsts],
            node_starts,
            place[above[used]].astype(np.int32),
            place[first_of[used]].astype(np.int32),
            trees.edges[used],
            _starts(np.bincount(owners[used], minlength=len(trees))),
        )

    def __len__(self) -> int:
        return len(self.node_starts) - 1

    def chosen(self, numbers: AnyArray) -> OperatorGraphs:
        """Return some graphs, in that order."""
        nodes, counts = _taken(self.node_starts, numbers)
        arcs, arc_counts = _taken(self.arc_starts, numbers)
        return OperatorGraphs(
            self.labels[nodes],
            self.orders[nodes],
            _starts(counts),
            self.sources[arcs],
            self.targets[arcs],
            self.edges[arcs],
            _starts(arc_counts),
        )

    @property
    def owners(self) -> AnyArray:
        """The graph of every node."""
        return np.repeat(np.arange(len(self)), np.diff(self.node_starts))

    def arcs(self) -> tuple[AnyArray, AnyArray]:
        """Return sources and targets by their numbers among all nodes."""
        offset = np.repeat(self.node_starts[:-1], np.diff(self.arc_starts))
        return self.sources + offset, self.targets + offset

    def changed(self, **changes: AnyArray) -> OperatorGraphs:
        """Return the graphs with other labels or arcs."""
        return OperatorGraphs(**{name: changes.get(name, getattr(self, name)) for name in self.__slots__})

    def with_arcs(self, kept: AnyArray) -> OperatorGraphs:
        """Return the graphs with only some of their arcs."""
        owners = np.repeat(np.arange(len(self)), np.diff(self.arc_starts))
        return self.changed(
            sources=self.sources[kept],
            targets=self.targets[kept],
            edges=self.edges[kept],
            arc_starts=_starts(np.bincount(owners[kept], minlength=len(self))),
        )

    def with_nodes(self, kept: AnyArray) -> OperatorGraphs:
        """Return the graphs with only some of their nodes, and the arcs between these."""
        if kept.all():
            return self
        sources, targets = self.arcs()
        fewer = self.with_arcs(kept[sources] & kept[targets])
        sources, targets = fewer.arcs()
        place = np.cumsum(kept) - 1
        starts = _starts(np.bincount(self.owners[kept], minlength=len(self)))
        offset = np.repeat(starts[:-1], np.diff(fewer.arc_starts))
        return fewer.changed(
            labels=self.labels[kept],
            orders=self.orders[kept],
            node_starts=starts,
            sources=(place[sources] - offset).astype(np.int32),
            targets=(place[targets] - offset).astype(np.int32),
        )

    def reachable(self) -> OperatorGraphs:
        """Return the graphs without the nodes that cannot be reached from their roots."""
        sources, targets = self.arcs()
        reached = np.zeros(len(self.labels), np.bool_)
        reached[self.node_starts[:-1]] = True
        while True:
            new = reached[sources] & ~reached[targets]
            if not new.any():
                return self.with_nodes(reached)
            reached[targets[new]] = True


def distinct_labels(trees: Sequence[Opt]) -> AnyArray:
    """Return a number for the label of each node of trees; equal labels have equal numbers."""
    numbers: dict[str, int] = {}
    names = (folded(label) for tree in trees for label in tree.labels)
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int32)


def shared_nodes(trees: FormulaTrees, distinct: AnyArray) -> AnyArray:
    """Map every node of trees to its node in the operator graphs, by its number among all of their nodes."""
    first_of, firsts = _shared(trees, distinct)
    return np.searchsorted(firsts, first_of)


def _orders(above: AnyArray) -> AnyArray:
    """Return the order of every node of some trees: its distance to the nearest leaf below it, at most 3."""
    found = np.full(len(above), 3, np.int8)
    is_leaf = np.ones(len(above), np.bool_)
    is_leaf[above[above >= 0]] = False
    found[is_leaf] = 0
    for order in (1, 2):
        parents = above[(found == order - 1) & (above >= 0)]
        found[parents[found[parents] > order]] = order
    return found


def _shared(trees: FormulaTrees, distinct: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Map every node to the first node of its tree with an equal subtree; return these first nodes in order as well."""
    owners = np.repeat(np.arange(len(trees)), np.diff(trees.starts))
    hashes, _ = subtree_hashes(replace(trees, labels=distinct))
    order = np.lexsort((np.arange(len(owners)), hashes, owners))
    new = np.ones(len(order), np.bool_)
    new[1:] = (owners[order][1:] != owners[order][:-1]) | (hashes[order][1:] != hashes[order][:-1])
    first_of = np.empty(len(order), np.int64)
    first_of[order] = order[new][np.cumsum(new) - 1]
    return first_of, np.sort(order[new])


def _starts(counts: Sequence[int] | AnyArray) -> AnyArray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _taken(starts: AnyArray, numbers: AnyArray) -> tuple[AnyArray, AnyArray]:
    counts = starts[numbers + 1] - starts[numbers]
    before = np.cumsum(counts) - counts
    return np.arange(int(counts.sum())) - np.repeat(before - starts[numbers], counts), counts
