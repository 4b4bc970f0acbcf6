"""Which node of a formula met which node of another: what an explanation of a found formula is made of.

A system that compares formulas node by node hands its pairs over as they are; the picture, the page and
`mathamr explain` draw them on both trees, whoever found them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.core.modelfolder import read_config
from mathamr.core.registry import Registry
from mathamr.formulas.alignment import NodePair
from mathamr.formulas.trees import Trees
from mathamr.systems.models import model_folder
from mathamr.systems.system import VisualFormula

View = Literal["opt", "slt"]
"""Which tree of a formula: operators or layout."""
SAME = 1e-4
"""Cosines that differ by less are equal: rounding alone keeps vectors of equal parts apart."""


@dataclass(frozen=True, slots=True)
class TreeMatch:
    """The nodes of one view of the query that met nodes of the found formula, and how good the match is.

    Nodes are numbered as in `Opt.labels` or `Slt.labels`. Every pair has its own worth, from 0 to 1 (a cosine, say);
    several nodes may meet the same one, and what met nothing is left out. `score` is what the system ranks by.
    """

    view: View
    score: float
    met: tuple[NodePair, ...]


@runtime_checkable
class MatchesNodes(Protocol):
    """A system that can say which nodes met; those that cannot are explained by the alignment of trees alone."""

    def match_nodes(self, query: VisualFormula, found: VisualFormula) -> Sequence[TreeMatch]:
        """The pairs of nodes by view, for the views that the system compares."""
        ...


class NodeComparer(Protocol):
    """A network that compares formulas node by node and needs no index: it reads only their trees."""

    def alike(self, query: Trees, others: Sequence[Trees]) -> list[float]:
        """How much of the query is in each of the other formulas, from 0 to 1."""
        ...


NODE_COMPARERS: Registry[Callable[[str], NodeComparer]] = Registry(
    "node comparer", {"formula-graph": "mathamr.systems.formulagraph.numpynodes:nodes_of"}
)
"""For each system that can compare nodes without torch, the function that loads its comparer from a model."""


def node_comparer(model: str) -> NodeComparer:
    """The node comparer of a model, by the model's name or folder."""
    return NODE_COMPARERS[str(read_config(model_folder(model)).get("system"))](model)


def most_similar(similar: FloatArray) -> tuple[NodePair, ...]:
    """What each node of the query (a row of cosines) is most like; nodes that are like nothing are left out.

    Of found nodes that are equally similar, say all the places of one variable, the first that the fewest have met is taken,
    so that equal parts meet side by side and none looks as if it had been missed.
    """
    taken = np.zeros(similar.shape[1], dtype=np.int64)
    met: list[NodePair] = []
    for node, row in enumerate(similar):
        best = float(row.max())
        if best > 0:
            equals = np.flatnonzero(row > best - SAME)
            other = int(equals[taken[equals].argmin()])
            taken[other] += 1
            met.append(NodePair(node, other, best))
    return tuple(met)
