"""Computes equal nodes once: colour refinement (Weisfeiler and Leman) over a stack of graphs.

A node's state depends on its state before the layer and on its neighbours by relation. Formulas repeat, so
after one layer half of the nodes of some posts have the same state as another node; and the last layer is needed only
for representatives. A `Step` says what one layer computes: a state for every class of nodes, from the previous classes.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from mathamr.core.arrays import AnyArray, BoolArray
from mathamr.systems.layers.stack import GraphStack

FEW = 300
"""Graphs with at most this many nodes, such as queries, are not refined: that would take longer than it saves."""


class Sums:
    """Sums over groups of rows: the first rows of all sums are added, then the second rows of all that have one, and so on.

    Each addition is then over contiguous rows, ten times as fast as numpy's `reduceat` over rows. `order`
    sorts the sums by descending number of rows.
    """

    def __init__(self, begins: AnyArray, counts: AnyArray, numbers: AnyArray) -> None:
        """Prepare the sums over `numbers` from each begin, with its count; no count is zero."""
        self.order = np.argsort(-counts, kind="stable")
        begins, counts = begins[self.order], counts[self.order]
        ranks = np.arange(int(counts.max(initial=0)))
        having = np.searchsorted(-counts, -ranks, "left")  # how many sums have a row of each rank
        within = np.repeat(ranks, having)
        self._rows = numbers[begins[_ranges(np.zeros_like(having), having)] + within]
        self._ends = np.cumsum(having).tolist()

    def __call__(self, x: AnyArray) -> AnyArray:
        """Return the sums of the rows of `x`."""
        rows = np.take(x, self._rows, axis=0)
        sums = rows[: len(self.order)]
        for begin, end in pairwise(self._ends):
            sums[: end - begin] += rows[begin:end]
        return sums


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Some classes of nodes and the groups of edges that reach them; every relation and target is multiplied once.

    A group is the mean of its sources: of `firsts` or, for the `larger` groups, of several `sources` with their shares;
    groups are ordered by relation (`spans`). The groups that reach a class (`received`) are summed for the
    `targets`.
    """

    relations: AnyArray
    spans: tuple[tuple[int, int, int], ...]
    firsts: AnyArray
    larger: AnyArray
    shares: AnyArray
    sources: Sums
    targets: AnyArray
    received: Sums


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One layer: `own` is the class of the previous layer that each class comes from."""

    own: AnyArray
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Refinement:
    """The initial labels, the layers, and the final class of each representative."""

    labels: AnyArray
    steps: tuple[Step, ...]
    representatives: AnyArray


def refined(stack: GraphStack, layers: int, most: int, few: int = FEW) -> Refinement:
    """Plans the computation for the representatives of these graphs, with about `most` groups per part at most.

    Up to `few` nodes are computed one by one. Classes are distinguished by sums of fresh random numbers, so that no input can be made to collide.
    """
    edges, wanted = _Edges(stack), _wanted(stack, layers)
    if len(stack.node_ids) <= few:
        return _unrefined(stack, edges, wanted, most)
    labels, classes = np.unique(stack.node_ids, return_inverse=True)
    steps = []
    for each in wanted:
        step, classes = _refining(edges, classes, each, most)
        steps.append(step)
    return Refinement(labels, tuple(steps), classes[stack.representatives])


def _unrefined(stack: GraphStack, edges: _Edges, wanted: list[BoolArray], most: int) -> Refinement:
    """Make every node a class of its own, in all layers but the last."""
    nodes, groups = np.arange(len(stack.node_ids)), np.arange(len(edges.targets))
    whole = _step(edges, nodes, groups, groups, nodes, most)
    last, reaching = np.flatnonzero(wanted[-1]), np.flatnonzero(wanted[-1][edges.targets])
    among, places = np.zeros_like(groups), np.zeros_like(nodes)
    among[reaching], places[last] = np.arange(len(reaching)), np.arange(len(last))
    steps = (*[whole] * (len(wanted) - 1), _step(edges, nodes, reaching, among, last, most))
    return Refinement(stack.node_ids, steps, places[stack.representatives])


class _Edges:
    """Edges grouped by relation and target, ordered by relation; and the groups by target."""

    def __init__(self, stack: GraphStack) -> None:
        nodes = len(stack.node_ids)
        order = np.argsort(stack.relations.astype(np.int64) * nodes + stack.targets, kind="stable")
        self.sources, relations, targets = stack.sources[order], stack.relations[order], stack.targets[order]
        first = np.ones(len(order), np.bool_)
        first[1:] = (targets[1:] != targets[:-1]) | (relations[1:] != relations[:-1])
        self.begins = np.flatnonzero(first)
        self.counts = np.diff(self.begins, append=len(order))
        self.relations, self.targets = relations[self.begins], targets[self.begins]
        self.by_target = np.argsort(self.targets, kind="stable")
        self.reached = np.bincount(self.targets, minlength=nodes)
        """The number of groups that reach each node."""
        self.reached_begins = np.cumsum(self.reached) - self.reached


def _wanted(stack: GraphStack, layers: int) -> list[BoolArray]:
    """Return which nodes' states each layer must compute: the representatives' in the end, and before it also their sources'."""
    wanted = np.zeros(len(stack.node_ids), np.bool_)
    wanted[stack.representatives] = True
    found = [wanted]
    for _ in range(layers - 1):
        wanted = wanted.copy()
        wanted[stack.sources[wanted[stack.targets]]] = True
        found.append(wanted)
    return found[::-1]


def _refining(edges: _Edges, classes: AnyArray, wanted: BoolArray, most: int) -> tuple[Step, AnyArray]:
    """Refine one layer; return its step and the new classes, which are meaningless for unwanted nodes."""
    before = int(classes.max(initial=-1)) + 1
    # Two groups are equal if they have the same relation and the same multiset of source classes.
    groups = np.flatnonzero(wanted[edges.targets])
    begins = edges.begins[groups]
    sums = _totals(_drawn(before)[classes][edges.sources], begins, begins + edges.counts[groups])
    sums += _drawn(int(edges.relations.max(initial=-1)) + 1)[edges.relations[groups]]
    firsts, numbers = _numbered(sums)
    among, marks = np.zeros(len(edges.targets), np.int64), np.zeros(len(edges.targets), np.uint64)
    among[groups], marks[groups] = numbers, _drawn(len(firsts))[numbers]
    groups = groups[firsts]
    # Two nodes are equal if they were equal before and equal groups reach them.
    nodes = np.flatnonzero(wanted)
    begins = edges.reached_begins[nodes]
    sums = _totals(marks[edges.by_target], begins, begins + edges.reached[nodes])
    sums += _drawn(before)[classes[nodes]]
    firsts, numbers = _numbered(sums)
    after = np.zeros(len(classes), np.int64)
    after[nodes] = numbers
    return _step(edges, classes, groups, among, nodes[firsts], most), after


def _step(
    edges: _Edges, classes: AnyArray, groups: AnyArray, among: AnyArray, nodes: AnyArray, most: int
) -> Step:
    """Build the layer that computes one group and one node per class; `among` maps each group to its representative."""
    counts = edges.reached[nodes]
    received = among[edges.by_target[_ranges(edges.reached_begins[nodes], counts)]]
    ends = np.cumsum(counts)
    cuts = [0, *(np.flatnonzero(np.diff(ends // most)) + 1).tolist(), len(nodes)]
    parts = []
    for start, end in pairwise(cuts):
        chosen, own = groups, received
        if len(cuts) > 2:
            used, own = np.unique(received[ends[start] - counts[start] : ends[end - 1]], return_inverse=True)
            chosen = groups[used]
        parts.append(_part(edges, classes, chosen, own, counts[start:end], start))
    return Step(classes[nodes], tuple(parts))


def _part(
    edges: _Edges, classes: AnyArray, groups: AnyArray, received: AnyArray, counts: AnyArray, start: int
) -> Part:
    """Build the part for the node classes from `start`, with the groups that reach them."""
    relations, sizes, begins = edges.relations[groups], edges.counts[groups], edges.begins[groups]
    cuts = [0, *(np.flatnonzero(np.diff(relations)) + 1).tolist(), len(relations)]
    sources = classes[edges.sources]
    larger, reached = np.flatnonzero(sizes > 1), np.flatnonzero(counts)
    summed = Sums(begins[larger], sizes[larger], sources)
    received_sums = Sums((np.cumsum(counts) - counts)[reached], counts[reached], received)
    larger = larger[summed.order]
    return Part(
        relations=relations,
        spans=tuple((int(relations[first]), first, end) for first, end in pairwise(cuts) if end > first),
        firsts=sources[begins],
        larger=larger,
        shares=(1.0 / sizes[larger]).astype(np.float32)[:, None],
        sources=summed,
        targets=start + reached[received_sums.order],
        received=received_sums,
    )


def _drawn(count: int) -> AnyArray:
    """Draw unpredictable numbers of 64 bits."""
    return np.frombuffer(os.urandom(8 * count), np.uint64)


def _totals(numbers: AnyArray, begins: AnyArray, ends: AnyArray) -> AnyArray:
    """Return the sums from begins to ends, modulo 2**64."""
    sums = np.zeros(len(numbers) + 1, np.uint64)
    np.cumsum(numbers, out=sums[1:])
    return sums[ends] - sums[begins]


def _numbered(numbers: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Return the first position of each distinct number, and for every number its index among these, in order of appearance.

    >>> _numbered(np.array([7, 3, 7, 9, 3]))
    (array([0, 1, 3]), array([0, 1, 0, 2, 1]))
    """
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = ordered[1:] != ordered[:-1]
    firsts = order[new]
    coming = np.argsort(firsts)
    places = np.empty_like(coming)
    places[coming] = np.arange(len(coming))
    found = np.empty_like(order)
    found[order] = places[np.cumsum(new) - 1]
    return firsts[coming], found


def _ranges(begins: AnyArray, counts: AnyArray) -> AnyArray:
    """Return the concatenated ranges that start at each begin and have its count.

    >>> _ranges(np.array([5, 2]), np.array([2, 3]))
    array([5, 6, 2, 3, 4])
    """
    shift = begins - (np.cumsum(counts) - counts)
    return np.repeat(shift, counts) + np.arange(counts.sum())
