"""Augmentations of operator graphs: other views of the same formula (SSEmb, section 2.1.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from mathamr.core.configured import Configured
from mathamr.core.errors import UnknownNameError
from mathamr.systems.ssemb.graphs import OperatorGraphs
from mathamr.systems.ssemb.network import WILDCARDS
from mathamr_lab.training.settings import Ranges

Augmenting = Literal["both", "substitution", "attribute-node-edge", "attribute"]
AUGMENTATIONS: tuple[Augmenting, ...] = get_args(Augmenting)
"""By name: what Table 2 compares; `both` is the paper's own, substructure substitution and attribute masking."""


@dataclass(frozen=True, slots=True)
class AugmentationConfiguration(Configured):
    """How views are computed; the defaults are the paper's (section 3.1.3). `mask` is the rate of attribute masking.

    Node dropping and edge perturbation change the share `drop` of nodes and edges.
    """

    title = "augmentation"
    ranges: ClassVar[Ranges] = dict.fromkeys(("first", "second", "third", "mask", "drop"), (0, 1))

    kind: str = "both"
    first: float = 0.3
    second: float = 0.005
    third: float = 0.002
    mask: float = 0.01
    drop: float = 0.1

    def check(self) -> None:
        """Refuse an unknown kind."""
        if self.kind not in AUGMENTATIONS:
            raise UnknownNameError("augmentation", self.kind, list(AUGMENTATIONS))


def view(
    graphs: OperatorGraphs,
    configuration: AugmentationConfiguration,
    labels: int,
    generator: np.random.Generator,
) -> OperatorGraphs:
    """Return another view of every graph; `labels` is the number of labels in the vocabulary."""
    steps: dict[str, tuple[Callable[..., OperatorGraphs], ...]] = {
        "both": (substituted, masked),
        "substitution": (substituted,),
        "attribute-node-edge": (masked, dropped, perturbed),
        "attribute": (masked,),
    }
    for step in steps[configuration.kind]:
        graphs = step(graphs, configuration, labels, generator)
    return graphs


def masked(
    graphs: OperatorGraphs,
    configuration: AugmentationConfiguration,
    _labels: int,
    generator: np.random.Generator,
) -> OperatorGraphs:
    """Mask attributes: replace some labels by the unknown one."""
    hidden = generator.random(len(graphs.labels)) < configuration.mask
    return graphs.changed(labels=np.where(hidden, 0, graphs.labels).astype(np.int32))


def substituted(
    graphs: OperatorGraphs,
    configuration: AugmentationConfiguration,
    labels: int,
    generator: np.random.Generator,
) -> OperatorGraphs:
    """Substitute substructures: turn chosen roots into wildcards and remove what is below them.

    Leaves are of first order, their parents of second, grandparents of third; unreachable nodes are removed.
    """
    rate = np.array([configuration.first, configuration.second, configuration.third])
    level = np.minimum(graphs.orders, 3)
    chosen = generator.random(len(graphs.labels)) < np.append(rate, 0.0)[level]
    drawn = labels + generator.integers(0, WILDCARDS, len(graphs.labels))
    changed = graphs.changed(labels=np.where(chosen, drawn, graphs.labels).astype(np.int32))
    sources, _ = graphs.arcs()
    return changed.with_arcs(~chosen[sources]).reachable()


def dropped(
    graphs: OperatorGraphs,
    configuration: AugmentationConfiguration,
    _labels: int,
    generator: np.random.Generator,
) -> OperatorGraphs:
    """Drop some nodes with their edges, never a graph's root."""
    kept = generator.random(len(graphs.labels)) >= configuration.drop
    kept[graphs.node_starts[:-1]] = True
    return graphs.with_nodes(kept)


def perturbed(
    graphs: OperatorGraphs,
    configuration: AugmentationConfiguration,
    _labels: int,
    generator: np.random.Generator,
) -> OperatorGraphs:
    """Perturb edges: redirect some of them to another node of their graph."""
    counts = np.diff(graphs.node_starts)
    sizes = np.repeat(counts, np.diff(graphs.arc_starts))
    moved = generator.random(len(graphs.targets)) < configuration.drop
    drawn = (generator.random(len(graphs.targets)) * sizes).astype(np.int32)
    return graphs.changed(targets=np.where(moved, drawn, graphs.targets).astype(np.int32))
