"""The relational convolution (R-GCN with basis decomposition), grouped by relation instead of looping.

PyTorch Geometric's `RGCNConv` multiplies for every relation all messages of that relation. Here the messages of
one relation into one node are averaged first, and the averages of all nodes stand sorted by relation, so that each
relation is one matrix product over the few rows that have it. The result is the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True, slots=True)
class EdgeGroups:
    """Edges grouped by (relation, target): made once for a batch, used by every layer.

    Edge e brings node `sources[e]` into group `members[e]`; group g averages `1 / shares[g]` edges of relation
    `relations[g]` for node `targets[g]`. Groups are sorted by relation: `present` lists the relations that
    occur and `sizes` how many groups each has.
    """

    sources: Tensor
    members: Tensor
    targets: Tensor
    relations: Tensor
    shares: Tensor
    present: Tensor
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, edge_index: Tensor, relation_ids: Tensor, nodes: int) -> EdgeGroups:
        """The groups of edges given as (sources, targets) and their relations."""
        keys = relation_ids.long() * nodes + edge_index[1].long()
        order = torch.argsort(keys, stable=True)
        unique, members, counts = torch.unique_consecutive(
            keys[order], return_inverse=True, return_counts=True
        )
        relations = torch.div(unique, nodes, rounding_mode="floor")
        present, sizes = torch.unique_consecutive(relations, return_counts=True)
        return cls(
            edge_index[0].long()[order],
            members,
            unique - relations * nodes,
            relations,
            counts.reciprocal(),
            present,
            tuple(sizes.tolist()),
        )

    def to(self, device: torch.device | str) -> EdgeGroups:
        """The same groups on another device."""
        return EdgeGroups(
            self.sources.to(device),
            self.members.to(device),
            self.targets.to(device),
            self.relations.to(device),
            self.shares.to(device),
            self.present.to(device),
            self.sizes,
        )


class RelationalConvolution(nn.Module):
    """R-GCN layer (equation 2.4 of the thesis) with bases, a learned vector for each relation, and a root weight.

    Equal to `torch_geometric.nn.RGCNConv(aggr="mean")` where the relation vectors are zero.
    """

    def __init__(
        self, in_size: int, out_size: int, relations: int, bases: int, *, relation_vectors: bool = True
    ) -> None:
        super().__init__()
        self.bases = nn.Parameter(torch.empty(bases, in_size, out_size))
        self.coefficients = nn.Parameter(torch.empty(relations, bases))
        self.root = nn.Parameter(torch.empty(in_size, out_size))
        self.bias = nn.Parameter(torch.zeros(out_size))
        self.vectors = nn.Parameter(torch.zeros(relations, in_size)) if relation_vectors else None
        nn.init.xavier_uniform_(self.coefficients)
        nn.init.xavier_uniform_(self.root)
        # Glorot over one basis, as RGCNConv does it.
        limit = (6 / (in_size + out_size)) ** 0.5
        nn.init.uniform_(self.bases, -limit, limit)

    def forward(self, x: Tensor, groups: EdgeGroups) -> Tensor:
        """New node vectors from those of the neighbours."""
        means = x.new_zeros(len(groups.targets), x.shape[1])
        means = means.index_add(0, groups.members, x[groups.sources]) * groups.shares[:, None].to(x.dtype)
        if self.vectors is not None:
            means = means + self.vectors[groups.relations].to(x.dtype)
        present = self.coefficients[groups.present].to(x.dtype)
        weights = (present @ self.bases.to(x.dtype).flatten(1)).view(-1, *self.bases.shape[1:])
        out = functional.linear(x, self.root.to(x.dtype).T, self.bias.to(x.dtype))
        return out.index_add(0, groups.targets, grouped_product(means, weights, groups.sizes))


def grouped_product(rows: Tensor, weights: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """Rows that stand group by group, each group times its own matrix."""
    if rows.is_cuda and rows.dtype == torch.bfloat16 and hasattr(torch, "_grouped_mm"):
        ends = torch.cumsum(torch.tensor(sizes), 0).to(rows.device, torch.int32)
        return torch._grouped_mm(rows, weights, ends)
    # Parts are cut with split: a slice each would make a gradient of full size each.
    parts = zip(torch.split(rows, list(sizes)), weights.unbind(0), strict=True)
    return (
        torch.cat([part @ weight for part, weight in parts])
        if sizes
        else rows.new_zeros(0, weights.shape[-1])
    )
