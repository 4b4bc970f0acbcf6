"""Batches of formula graphs, with an inverse edge beside every edge."""

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
from mathamr.systems.layers.stack import node_ranges


@dataclass(frozen=True, slots=True, eq=False)
class FormulaBatch:
    """The nodes of several graphs end to end; graph i has the nodes from `starts[i]` to `starts[i + 1]`."""

    labels: Tensor
    groups: EdgeGroups
    starts: Tensor
    owners: Tensor
    """The graph of every node."""

    def __len__(self) -> int:
        return len(self.starts) - 1

    def to(self, device: torch.device) -> FormulaBatch:
        """Return the batch on a device; everything is copied at once."""
        if self.labels.device == device:
            return self
        moved = moved_together([self.labels, self.starts, self.owners, *self.groups.tensors()], device)
        return FormulaBatch(moved[0], self.groups.with_tensors(moved[3:]), moved[1], moved[2])


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """Nodes chosen from trees, by their numbers among all nodes, in ascending order, and the number chosen from each tree."""

    nodes: AnyArray
    counts: AnyArray


def whole(trees: FormulaTrees, chosen: AnyArray) -> Chosen:
    """Choose all nodes of some trees, which are in ascending order."""
    counts = trees.starts[chosen + 1] - trees.starts[chosen]
    return Chosen(node_ranges(trees.starts[chosen], counts), counts)


def batch_of(
    trees: FormulaTrees, chosen: AnyArray, taken: Chosen, labels: AnyArray | None = None
) -> FormulaBatch:
    """Make a batch of the chosen nodes, with the edges whose two ends were chosen; `labels` replace those of the trees."""
    nodes, counts = taken.nodes, taken.counts
    if len(nodes) and bool(np.any(np.diff(nodes) <= 0)):
        raise MathAMRError("the trees of a batch must be in ascending order, each at most once")
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
