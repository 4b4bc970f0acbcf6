"""Matches between the nodes of two formulas, which explain why a formula was found.

A system that compares formulas node by node returns its pairs; pictures, the web page and `mathamr explain` draw them on
both trees.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.core.modelfolder import read_config
from mathamr.core.registry import Registry
from mathamr.formulas.alignment import NodePair
from mathamr.formulas.trees import Trees
from mathamr.systems.models import model_folder

View = Literal["opt", "slt"]
"""Which tree of a formula: operators or layout."""
SAME = 1e-4
"""Cosines that differ by less count as equal; vectors of equal parts differ by rounding alone."""


@dataclass(frozen=True, slots=True)
class TreeMatch:
    """Which nodes of one view of the query match nodes of the found formula, and how well.

    Nodes are numbered as in `Opt.labels` or `Slt.labels`. Every pair has a score from 0 to 1, a cosine for example; several
    nodes may match the same one, and nodes without a match are left out. `score` is what the system ranks by.
    """

    view: View
    score: float
    met: tuple[NodePair, ...]


class NodeComparer(Protocol):
    """A network that compares formulas node by node and needs no index: it reads only their trees."""

    def alike(self, query: Trees, others: Sequence[Trees]) -> list[float]:
        """Return how much of the query is in each of the other formulas, from 0 to 1."""
        ...


NODE_COMPARERS: Registry[Callable[[str], NodeComparer]] = Registry(
    "node comparer", {"formula-graph": "mathamr.systems.formulagraph.numpynodes:nodes_of"}
)
"""For each system that can compare nodes without torch, the function that loads its comparer from a model."""


def node_comparer(model: str) -> NodeComparer:
    """Return the node comparer of a model, by the model's name or folder."""
    return NODE_COMPARERS[str(read_config(model_folder(model)).get("system"))](model)


def most_similar(similar: FloatArray) -> tuple[NodePair, ...]:
    """Return the most similar node for each node of the query, which is a row of cosines; nodes similar to nothing are left out.

    Among equally similar nodes, such as all places of one variable, the one with the fewest matches so far is taken, so
    that equal parts match side by side.
    """
    taken = np.zeros(similar.shape[1], dtype=np.int64)
    pairs: list[NodePair] = []
    for node, row in enumerate(similar):
        best = float(row.max())
        if best > 0:
            equals = np.flatnonzero(row > best - SAME)
            other = int(equals[taken[equals].argmin()])
            taken[other] += 1
            pairs.append(NodePair(node, other, best))
    return tuple(pairs)
