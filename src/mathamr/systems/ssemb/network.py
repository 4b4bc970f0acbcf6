"""StructEmb: a graph isomorphism network over operator graphs and its head (SSEmb, section 2.1.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from mathamr.core.configured import Configured
from mathamr.core.errors import UnknownNameError
from mathamr.systems.ssemb.graphs import OperatorGraphs

WILDCARDS = 8
"""The number of labels after those of the vocabulary that training substitutes for subtrees."""
EDGE_LABELS = 256
"""The number of edge labels: one per operand position, and as many for the inverse edges."""

Normalisation = Literal["layer", "batch"]


@dataclass(frozen=True, slots=True)
class StructEmbConfiguration(Configured):
    """The shape of the network; the paper has size 400 and 2 layers, and no labels on edges.

    `norm` normalises within the layers: over the numbers of a node (``layer``), or every number over the nodes of a batch
    (``batch``), as graph isomorphism networks do (Xu et al., 2019).
    """

    title: ClassVar[str] = "ssemb"
    ranges: ClassVar[Mapping[str, tuple[float, float]]] = {"size": (1, 4096), "layers": (1, 16)}
    later: ClassVar[tuple[str, ...]] = ("norm",)

    size: int = 256
    layers: int = 2
    edge_labels: bool = True
    norm: Normalisation = "layer"

    def check(self) -> None:
        """Refuse an unknown normalisation."""
        if self.norm not in get_args(Normalisation):
            raise UnknownNameError("normalisation", self.norm, list(get_args(Normalisation)))


@dataclass(frozen=True, slots=True, eq=False)
class GraphNumbers:
    """A batch of graphs on a device: labels, message edges, and the runs of nodes."""

    labels: Tensor
    neighbours: Tensor
    edges: Tensor
    starts: Tensor
    nodes: Tensor
    node_starts: Tensor

    @classmethod
    def of(cls, graphs: OperatorGraphs, device: torch.device) -> GraphNumbers:
        """Make a batch in which messages go in both directions along every arc."""
        sources, targets = graphs.arcs()
        heard = np.concatenate([sources, targets])
        hearing = np.concatenate([targets, sources])
        edges = np.concatenate([graphs.edges.astype(np.int64), graphs.edges.astype(np.int64) + 128])
        order = np.argsort(hearing, kind="stable")
        starts = np.searchsorted(hearing[order], np.arange(len(graphs.labels) + 1))
        arrays = (
            graphs.labels.astype(np.int64),
            heard[order],
            edges[order],
            starts,
            np.arange(len(graphs.labels)),
            graphs.node_starts,
        )
        return cls(*(torch.from_numpy(np.ascontiguousarray(array)).to(device) for array in arrays))


class StructEmb(nn.Module):
    """Graphs to vectors of length one: `forward` for retrieval, `projected` for the contrastive loss."""

    def __init__(self, configuration: StructEmbConfiguration, labels: int) -> None:
        super().__init__()
        self.configuration = configuration
        size = configuration.size
        self.embedding = nn.Embedding(labels + WILDCARDS, size)
        self.edges = nn.Embedding(EDGE_LABELS, size) if configuration.edge_labels else None
        if self.edges is not None:
            nn.init.zeros_(self.edges.weight)
        self.layers = nn.ModuleList(
            Isomorphism(size, configuration.norm) for _ in range(configuration.layers)
        )
        self.head = nn.Sequential(nn.Linear(size, size), nn.LayerNorm(size), nn.ReLU(), nn.Linear(size, size))

    def states(self, graphs: GraphNumbers) -> Tensor:
        """Return for every node the sum of its states over all layers; a graph's vector is the mean of these."""
        x = self.embedding(graphs.labels)
        found: Tensor = x
        for layer in self.layers:
            x = layer(x, graphs, self.edges)
            found = found + x
        return found

    def pooled(self, graphs: GraphNumbers) -> Tensor:
        """Return the mean over the nodes of every graph."""
        return _means(self.states(graphs), graphs)

    def forward(self, graphs: GraphNumbers) -> Tensor:
        """Return the vectors used for retrieval."""
        return functional.normalize(self.pooled(graphs).float(), dim=-1)

    def projected(self, graphs: GraphNumbers) -> Tensor:
        """Return the vectors that training compares."""
        return functional.normalize(self.head(self.pooled(graphs)).float(), dim=-1)


class Isomorphism(nn.Module):
    """One layer of a graph isomorphism network: a node plus the sum of its neighbours, through a small network."""

    def __init__(self, size: int, norm: Normalisation = "layer") -> None:
        super().__init__()
        normal = nn.BatchNorm1d if norm == "batch" else nn.LayerNorm
        self.own = nn.Parameter(torch.zeros(()))
        self.inner = nn.Sequential(nn.Linear(size, size), normal(size), nn.ReLU(), nn.Linear(size, size))
        self.norm = normal(size)

    def forward(self, x: Tensor, graphs: GraphNumbers, edges: nn.Embedding | None) -> Tensor:
        """Return new vectors of all nodes."""
        heard = x.index_select(0, graphs.neighbours)
        if edges is not None:
            heard = heard + edges(graphs.edges)
        counted = torch.zeros_like(x).index_add_(0, _owners(graphs.starts), heard)
        found: Tensor = functional.relu(self.norm(self.inner((1 + self.own) * x + counted)))
        return found


def _means(x: Tensor, graphs: GraphNumbers) -> Tensor:
    counts = graphs.node_starts.diff()
    sums = torch.zeros(len(counts), x.shape[1], dtype=x.dtype, device=x.device)
    return sums.index_add_(0, _owners(graphs.node_starts), x) / counts[:, None].clamp(min=1)


def _owners(starts: Tensor) -> Tensor:
    return torch.repeat_interleave(torch.arange(len(starts) - 1, device=starts.device), starts.diff())
