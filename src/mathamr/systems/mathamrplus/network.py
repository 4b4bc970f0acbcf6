"""MathAMR+: the relational network over a post's graph (thesis, section 3.3)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from mathamr.graphs.flatgraph import DOCUMENT_EDGE, FORMULA_EDGE, SENTENCE_EDGE, VIRTUAL_EDGES, VIRTUAL_LABELS
from mathamr.graphs.vocabulary import SPECIAL
from mathamr.systems.layers.batch import GraphBatch
from mathamr.systems.layers.convolution import RelationalConvolution, group_means
from mathamr.systems.layers.groups import EdgeGroups
from mathamr.systems.mathamrplus.configuration import ModelConfiguration

VIRTUAL_IDS = tuple(SPECIAL.index(label) for label in VIRTUAL_LABELS)
"""The numbers of the virtual labels (formula, sentence, document), which are the same in every vocabulary."""


def _inverse(relation: str) -> int:
    """Return the number of the relation from members to their virtual node, which is the same in every vocabulary."""
    return 2 * (1 + VIRTUAL_EDGES.index(relation)) + 1


GATHERING = tuple(_inverse(relation) for relation in (FORMULA_EDGE, SENTENCE_EDGE, DOCUMENT_EDGE))


class MathAMRPlus(nn.Module):
    """Embeddings, pre-norm residual relational layers, and a projection head for the representatives."""

    def __init__(self, configuration: ModelConfiguration, labels: int, relations: int) -> None:
        super().__init__()
        self.configuration = configuration
        size = configuration.hidden
        self.embedding = nn.Embedding(labels, size)
        nn.init.xavier_uniform_(self.embedding.weight)
        self.start = VirtualNodeStart(configuration)
        self.start.prepare(self.embedding)
        self.layers = nn.ModuleList(Layer(configuration, relations) for _ in range(configuration.layers))
        self.head = ProjectionHead(size, configuration.projection)

    def forward(self, batch: GraphBatch) -> Tensor:
        """Return the l2-normalised vectors of all representatives of the batch, graph by graph."""
        x = self.start(self.embedding(batch.node_ids), batch)
        for layer in self.layers:
            x = layer(x, batch.groups)
        vectors: Tensor = self.head(x.index_select(0, batch.representatives)).float()
        return functional.normalize(vectors, dim=-1)


class Layer(nn.Module):
    """One residual layer: h + GELU(RGCN(LayerNorm(h))) (equation 3.1)."""

    def __init__(self, configuration: ModelConfiguration, relations: int) -> None:
        super().__init__()
        size = configuration.hidden
        self.norm = nn.LayerNorm(size)
        self.convolution = RelationalConvolution(size, size, relations, configuration.bases)
        self.dropout = nn.Dropout(configuration.dropout)

    def forward(self, x: Tensor, groups: EdgeGroups) -> Tensor:
        """Return the refined node vectors."""
        added: Tensor = self.dropout(functional.gelu(self.convolution(self.norm(x), groups)))
        return x + added


class ProjectionHead(nn.Module):
    """LayerNorm(W2 GELU(LayerNorm(W1 h + b1)) + b2) (equation 3.3)."""

    def __init__(self, size: int, projection: int) -> None:
        super().__init__()
        self.first = nn.Linear(size, size)
        self.first_norm = nn.LayerNorm(size)
        self.second = nn.Linear(size, projection)
        self.second_norm = nn.LayerNorm(projection)

    def forward(self, x: Tensor) -> Tensor:
        """Project node vectors into the retrieval space, without normalising them."""
        projected: Tensor = self.second_norm(self.second(functional.gelu(self.first_norm(self.first(x)))))
        return projected


class VirtualNodeStart(nn.Module):
    """Initialises virtual nodes before the first layer, by one of the six methods of Table 4.13.

    `zero` and `mean` learn nothing; an embedding starts at zero or at random and is learned, one for each kind of
    virtual node; a mean of the members may pass a learned projection, one for all kinds or one for each. The mean
    of the document node is taken over its members, the other virtual nodes, once these have theirs.
    """

    def __init__(self, configuration: ModelConfiguration) -> None:
        super().__init__()
        self.kind = configuration.virtual_start
        count = {"mean-projection": 1, "mean-typed-projection": len(GATHERING)}.get(self.kind, 0)
        self.projections = nn.ModuleList(
            nn.Linear(configuration.hidden, configuration.hidden) for _ in range(count)
        )

    def prepare(self, embedding: nn.Embedding) -> None:
        """Set the embeddings of virtual nodes to zero, unless they start at random."""
        if self.kind != "random-embedding":
            with torch.no_grad():
                embedding.weight[list(VIRTUAL_IDS)] = 0.0

    def forward(self, x: Tensor, batch: GraphBatch) -> Tensor:
        """Return the node vectors with the virtual nodes initialised."""
        if self.kind.endswith("-embedding"):
            return x
        ids = batch.node_ids
        real = (ids < VIRTUAL_IDS[0]) | (ids > VIRTUAL_IDS[-1])
        x = x * real[:, None]
        if self.kind == "zero":
            return x
        # Formulas and sentences come first: the document's mean is taken over theirs.
        for kinds in ((0, 1), (2,)):
            means = group_means(x, batch.groups)
            for kind in kinds:
                span, _ = batch.groups.span(GATHERING[kind])
                if span.stop > span.start:
                    pooled = means[span]
                    if self.projections:
                        pooled = self.projections[kind % len(self.projections)](pooled)
                    x = x.index_copy(0, batch.groups.targets[span].long(), pooled.to(x.dtype))
        return x
