"""The relational network over formula graphs: a vector of length one for every node (Amador and Zanibbi, equation 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from mathamr.core.configured import Configured
from mathamr.core.errors import MathAMRError
from mathamr.graphs.formulashard import EDGES, FormulaLabels
from mathamr.systems.formulagraph.batch import FormulaBatch
from mathamr.systems.layers.convolution import RelationalConvolution

VIEWS = ("slt", "opt")


@dataclass(frozen=True, slots=True)
class FormulaGraphConfiguration(Configured):
    """The shape of both networks; `size` is that of a node's vector.

    With `types`, a node starts as the sum of its label's vector and its type's vector, so that the network need not learn
    separately for every label what all labels of a type have in common. With `printed`, the layers are equation 1 as
    the paper prints it: one matrix per relation, and no normalisation, residual connection, bias or projection.
    """

    title: ClassVar[str] = "formula graph"
    ranges: ClassVar[Mapping[str, tuple[float, float]]] = {
        **dict.fromkeys(("hidden", "size", "bases"), (1, 4096)),
        "layers": (1, 16),
    }

    hidden: int = 128
    size: int = 64
    layers: int = 3
    bases: int = 16
    types: bool = False
    printed: bool = False

    def check(self) -> None:
        """Refuse a projection where equation 1 has none."""
        if self.printed and self.hidden != self.size:
            raise MathAMRError(
                f"equation 1 as printed has no projection: hidden is {self.hidden} and size {self.size}, but they must be equal"
            )


class NodeNetwork(nn.Module):
    """Embeddings of labels, relational convolutions with ReLU, and a projection unless the layers are `printed`."""

    kinds: Tensor

    def __init__(self, configuration: FormulaGraphConfiguration, labels: FormulaLabels, view: str) -> None:
        super().__init__()
        hidden, relations = configuration.hidden, 2 * len(EDGES[view])
        self.embedding = nn.Embedding(len(labels), hidden)
        nn.init.normal_(self.embedding.weight, std=0.1)
        self.types = nn.Embedding(len(FormulaLabels.special()), hidden) if configuration.types else None
        if self.types is not None:
            nn.init.normal_(self.types.weight, std=0.1)
        self.register_buffer("kinds", torch.from_numpy(labels.types()), persistent=False)
        printed = configuration.printed
        self.layers = nn.ModuleList(
            RelationalConvolution(
                hidden,
                hidden,
                relations,
                None if printed else configuration.bases,
                relation_vectors=False,
                bias=not printed,
            )
            for _ in range(configuration.layers)
        )
        self.norms = nn.ModuleList(
            nn.LayerNorm(hidden) for _ in range(0 if printed else configuration.layers)
        )
        self.projection = None if printed else nn.Linear(hidden, configuration.size)

    def forward(self, batch: FormulaBatch) -> Tensor:
        """Return the vectors of all nodes of a batch."""
        x = self.embedding(batch.labels)
        if self.types is not None:
            x = x + self.types(self.kinds[batch.labels])
        if self.projection is None:
            for layer in self.layers:
                x = functional.relu(layer(x, batch.groups))
            return functional.normalize(x.float(), dim=-1)
        for layer, norm in zip(self.layers, self.norms, strict=True):
            x = x + functional.relu(layer(norm(x), batch.groups))
        return functional.normalize(self.projection(x).float(), dim=-1)


class FormulaGraphNetwork(nn.Module):
    """The two networks, one for each view of a formula."""

    def __init__(self, configuration: FormulaGraphConfiguration, labels: FormulaLabels) -> None:
        super().__init__()
        self.configuration = configuration
        self.views = nn.ModuleDict({view: NodeNetwork(configuration, labels, view) for view in VIEWS})

    def forward(self, view: str, batch: FormulaBatch) -> Tensor:
        """Return the node vectors of one view."""
        found: Tensor = self.views[view](batch)
        return found
