"""A transformer from scratch on linearised graphs, for the study `structure`: the control without message passing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from mathamr.posts.level import Level
from mathamr.systems.layers.stack import GraphStack
from mathamr.systems.mathamrplus.configuration import ModelConfiguration
from mathamr.systems.mathamrplus.network import ProjectionHead

LONGEST = 384
"""Nodes of a graph that are read."""


@dataclass(frozen=True, slots=True, eq=False)
class SequenceBatch:
    """Graphs as rows of nodes in depth-first order, each with the relation that leads to it, padded.

    `members` are places of nodes among all rows, `owners` the representatives whose means they enter.
    """

    labels: Tensor
    relations: Tensor
    padding: Tensor
    members: Tensor
    owners: Tensor
    representatives: Tensor

    @classmethod
    def of(cls, stack: GraphStack) -> SequenceBatch:
        """The rows of a stack of graphs: nodes are in depth-first order there."""
        owner = np.repeat(np.arange(len(stack)), stack.node_counts)
        first = np.cumsum(stack.node_counts) - stack.node_counts
        within = np.arange(len(owner)) - first[owner]
        real = ~stack.virtual & (within < LONGEST)
        width = int(within[real].max()) + 1 if real.any() else 1
        labels = np.zeros((len(stack), width), np.int64)
        relations, padding = np.zeros_like(labels), np.ones(labels.shape, bool)
        labels[owner[real], within[real]] = stack.node_ids[real]
        padding[owner[real], within[real]] = False
        padding[:, 0] = False
        forward = stack.relations % 2 == 0
        sources, targets = stack.sources[forward], stack.targets[forward]
        inner = ~stack.virtual[sources] & real[targets]
        relations[owner[targets[inner]], within[targets[inner]]] = stack.relations[forward][inner] // 2 + 1
        place = np.full(len(owner), -1)
        place[stack.representatives] = np.arange(len(stack.representatives))
        outer = stack.virtual[sources] & real[targets]
        documents = np.flatnonzero(stack.levels == Level.DOCUMENT)
        whole = np.full(len(stack), -1)
        whole[owner[stack.representatives[documents]]] = documents
        everywhere = np.flatnonzero(real)
        at = owner * width + within
        members = np.concatenate([at[targets[outer]], at[everywhere]])
        owners = np.concatenate([place[sources[outer]], whole[owner[everywhere]]])
        arrays = (
            labels,
            relations,
            padding,
            members[owners >= 0],
            owners[owners >= 0],
            stack.representatives,
        )
        return cls(*map(torch.from_numpy, arrays))

    def to(self, device: torch.device) -> SequenceBatch:
        """Returns the batch on a device."""
        return SequenceBatch(*(getattr(self, name).to(device, non_blocking=True) for name in self.__slots__))


class SequenceNetwork(nn.Module):
    """Six layers with about as many parameters as the relational network; representatives are means over their nodes."""

    def __init__(self, configuration: ModelConfiguration, labels: int, relations: int) -> None:
        super().__init__()
        self.configuration = configuration
        size = configuration.hidden
        self.labels = nn.Embedding(labels, size)
        self.relations = nn.Embedding(relations // 2 + 1, size)
        self.places = nn.Parameter(torch.randn(LONGEST, size) * 0.02)
        for table in (self.labels, self.relations):
            nn.init.normal_(table.weight, std=0.05)
        layer = nn.TransformerEncoderLayer(size, 4, 1280, 0.1, "gelu", batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 6, enable_nested_tensor=False)
        self.head = ProjectionHead(size, configuration.projection)

    def forward(self, batch: SequenceBatch) -> Tensor:
        """The unit vectors of all representatives of the batch."""
        x = self.labels(batch.labels) + self.relations(batch.relations) + self.places[: batch.labels.shape[1]]
        states = self.layers(x, src_key_padding_mask=batch.padding).reshape(-1, x.shape[-1]).float()
        count = len(batch.representatives)
        sums = states.new_zeros(count, x.shape[-1]).index_add(0, batch.owners, states[batch.members])
        sizes = states.new_zeros(count).index_add(
            0, batch.owners, torch.ones_like(batch.owners, dtype=states.dtype)
        )
        means = sums / sizes.clamp(min=1)[:, None]
        return functional.normalize(self.head(means).float(), dim=-1)
