"""Batches of formula graphs: whole trees, and sub-expressions made anew each epoch, with an edge back beside every edge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from mathamr.core.arrays import AnyArray
from mathamr.core.errors import MathAMRError
from mathamr.graphs.formulashard import FormulaTrees
from mathamr.systems.layers.batch import moved_together
from mathamr.systems.layers.groups import EdgeGroups


@dataclass(frozen=True, slots=True, eq=False)
class FormulaBatch:
    """The nodes of some graphs end to end; graph i has the nodes from `starts[i]` to `starts[i + 1]`."""

    labels: Tensor
    groups: EdgeGroups
    starts: Tensor
    owners: Tensor
    """The graph of every node."""

    def __len__(self) -> int:
        return len(self.starts) - 1

    def to(self, device: torch.device) -> FormulaBatch:
        """The batch on a device: everything travels in one copy."""
        if self.labels.device == device:
            return self
        moved = moved_together([self.labels, self.starts, self.owners, *self.groups.tensors()], device)
        return FormulaBatch(moved[0], self.groups.with_tensors(moved[3:]), moved[1], moved[2])


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """Nodes of trees, by their numbers among all nodes, in ascending order, and how many each tree gave."""

    nodes: AnyArray
    counts: AnyArray


class Subexpressions:
    """Sub-expressions of trees (Amador and Zanibbi, section 3): a random internal node goes, the largest part stays.

    Of equal parts the one above stays, then the first below. A tree without an internal node stays as it is.
    """

    def __init__(self, trees: FormulaTrees) -> None:
        self._trees = trees
        counts = np.diff(trees.starts)
        of = np.repeat(np.arange(len(trees)), counts)
        self._internal = np.flatnonzero(trees.sizes > 1)
        self._internal_starts = np.searchsorted(of[self._internal], np.arange(len(trees) + 1))
        self._heaviest = _heaviest(trees, of)

    def drawn(self, chosen: AnyArray, chance: np.random.Generator) -> Chosen:
        """One sub-expression of each of these trees, which are in ascending order."""
        begins = self._internal_starts[chosen]
        many = self._internal_starts[chosen + 1] - begins
        drawn = begins + np.minimum((chance.random(len(chosen)) * many).astype(np.int64), many - 1)
        removed = np.where(many > 0, self._internal[np.where(many > 0, drawn, 0)], -1)
        return self.without(chosen, removed)

    def without(self, chosen: AnyArray, removed: AnyArray) -> Chosen:
        """The largest part of each tree without one of its nodes; -1 removes nothing."""
        trees = self._trees
        start, end = trees.starts[chosen], trees.starts[chosen + 1]
        gone = np.maximum(removed, 0)
        size = np.where(removed < 0, 0, trees.sizes[gone])
        heavy = self._heaviest[gone]
        below = np.where((removed < 0) | (heavy < 0), 0, trees.sizes[heavy])
        above = end - start - size
        keeps_above = above >= below
        # What stays is two runs of nodes: before and behind what went, or the largest part below and nothing.
        firsts = np.where(keeps_above, start, heavy)
        first_ends = np.where(keeps_above, np.where(removed < 0, end, removed), heavy + below)
        seconds = np.where(keeps_above & (removed >= 0), removed + size, first_ends)
        second_ends = np.where(keeps_above & (removed >= 0), end, first_ends)
        begins = np.stack([firsts, seconds], 1).ravel()
        counts = np.stack([first_ends - firsts, second_ends - seconds], 1)
        return Chosen(_ranges(begins, counts.ravel()), counts.sum(1))


def whole(trees: FormulaTrees, chosen: AnyArray) -> Chosen:
    """All nodes of some trees, which are in ascending order."""
    counts = trees.starts[chosen + 1] - trees.starts[chosen]
    return Chosen(_ranges(trees.starts[chosen], counts), counts)


def batch_of(
    trees: FormulaTrees, chosen: AnyArray, taken: Chosen, labels: AnyArray | None = None
) -> FormulaBatch:
    """Nodes of trees as a batch: an edge between two nodes is there where both are; `labels` replace those of the trees."""
    nodes, counts = taken.nodes, taken.counts
    if len(nodes) and bool(np.any(np.diff(nodes) <= 0)):
        raise MathAMRError("the trees of a batch stand in ascending order, each once")
    owners = np.repeat(np.arange(len(counts)), counts)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    above = trees.starts[chosen][owners] + trees.parents[nodes]
    place = np.minimum(np.searchsorted(nodes, above), max(0, len(nodes) - 1))
    there = (trees.parents[nodes] >= 0) & (nodes[place] == above) if len(nodes) else np.zeros(0, np.bool_)
    up, down = place[there], np.flatnonzero(there)
    relation = 2 * trees.edges[nodes[down]].astype(np.int64)
    groups = EdgeGroups.of(
        np.concatenate([up, down]),
        np.concatenate([down, up]),
        np.concatenate([relation, relation + 1]),
        len(nodes),
    )
    found = trees.labels[nodes] if labels is None else labels
    return FormulaBatch(
        torch.from_numpy(found.astype(np.int32)),
        groups,
        torch.from_numpy(starts.astype(np.int32)),
        torch.from_numpy(owners.astype(np.int32)),
    )


def _heaviest(trees: FormulaTrees, of: AnyArray) -> AnyArray:
    """For every node, by its number among all nodes, its child with the most nodes, the first of equal ones, or -1."""
    children = np.flatnonzero(trees.parents >= 0)
    above = trees.starts[of[children]] + trees.parents[children]
    order = np.lexsort((children, -trees.sizes[children].astype(np.int64), above))
    firsts = np.ones(len(order), np.bool_)
    firsts[1:] = above[order][1:] != above[order][:-1]
    found = np.full(len(trees.labels), -1, np.int64)
    found[above[order][firsts]] = children[order][firsts]
    return found


def _ranges(begins: AnyArray, counts: AnyArray) -> AnyArray:
    before = np.cumsum(counts) - counts
    found: AnyArray = np.arange(int(counts.sum())) - np.repeat(before - begins, counts)
    return found
