"""The relational convolution (R-GCN with basis decomposition), grouped by relation instead of looping.

PyTorch Geometric's `RGCNConv` multiplies all messages of every relation. Here the messages of
one relation into one node are averaged first, and the averages of all nodes are sorted by relation, so that each
relation is one matrix product over the few rows that have it. The result is the same. Sums over edges are gathers
over sorted edges, forward and backward: no message is ever stored, nothing is scattered, and the same input gives
the same bits on every device.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from mathamr.systems.layers.groups import EdgeGroups
from mathamr.systems.layers.segments import bag_sums

PIECE_ROWS = 1 << 18
"""The number of groups that are multiplied at a time in inference mode, which bounds the memory of a huge post."""


class RelationalConvolution(nn.Module):
    """R-GCN layer (equation 2.4 of the thesis) with bases, a learned vector for each relation, and a root weight.

    Without `bases` every relation has a matrix of its own. Equals `torch_geometric.nn.RGCNConv(aggr="mean")` where the
    relation vectors are zero.
    """

    def __init__(
        self,
        in_size: int,
        out_size: int,
        relations: int,
        bases: int | None,
        *,
        relation_vectors: bool = True,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.piece_rows = PIECE_ROWS
        self.bases = nn.Parameter(torch.empty(bases or relations, in_size, out_size))
        self.coefficients = nn.Parameter(torch.empty(relations, bases)) if bases else None
        self.root = nn.Parameter(torch.empty(in_size, out_size))
        self.bias = nn.Parameter(torch.zeros(out_size)) if bias else None
        self.vectors = nn.Parameter(torch.zeros(relations, in_size)) if relation_vectors else None
        if self.coefficients is not None:
            nn.init.xavier_uniform_(self.coefficients)
        nn.init.xavier_uniform_(self.root)
        # Glorot initialisation over one basis, as in RGCNConv.
        limit = (6 / (in_size + out_size)) ** 0.5
        nn.init.uniform_(self.bases, -limit, limit)

    def forward(self, x: Tensor, groups: EdgeGroups) -> Tensor:
        """Compute new node vectors from those of the neighbours."""
        x = x.to(working_type(x))
        weights = self._relation_matrices(groups, x.dtype)
        vectors = None
        if self.vectors is not None:
            vectors = self.vectors.index_select(0, groups.present).to(x.dtype)
        bias = None if self.bias is None else self.bias.to(x.dtype)
        out = functional.linear(x, self.root.to(x.dtype).T, bias)
        if len(groups) > self.piece_rows and torch.is_inference_mode_enabled():
            return _add_in_pieces(out, x, groups, weights, vectors, self.piece_rows)
        means = group_means(x, groups)
        if vectors is not None:
            means = _AddByRelation.apply(means, vectors, groups)  # type: ignore[no-untyped-call]
        product = grouped_product(means, weights, groups)
        brought: Tensor = _SumByTarget.apply(product, groups)  # type: ignore[no-untyped-call]
        return out + brought

    def _relation_matrices(self, groups: EdgeGroups, kind: torch.dtype) -> Tensor:
        """Return the matrix of every relation that occurs."""
        if self.coefficients is None:
            return self.bases.index_select(0, groups.present).to(kind)
        present = self.coefficients.index_select(0, groups.present).to(kind)
        return (present @ self.bases.to(kind).flatten(1)).view(-1, *self.bases.shape[1:])


def _add_in_pieces(
    out: Tensor,
    x: Tensor,
    groups: EdgeGroups,
    weights: Tensor,
    vectors: Tensor | None,
    rows: int,
) -> Tensor:
    """Add what the groups contribute, a bounded number of them at a time and each relation separately.

    The groups of one relation have different targets, so the result of adding in place does not depend on the order.
    """
    begin = 0
    for rank, size in enumerate(groups.sizes):
        for first in range(begin, begin + size, rows):
            last = min(first + rows, begin + size)
            starts = groups.starts[first : last + 1]
            edges = slice(int(starts[0]), int(starts[-1]))
            means = bag_sums(x, groups.sources[edges], starts - starts[0], groups.weights[edges])
            if vectors is not None:
                means = means + vectors[rank]
            out.index_add_(0, groups.targets[first:last], means @ weights[rank])
        begin += size
    return out


def working_type(x: Tensor) -> torch.dtype:
    """Return the type to compute in: that of autocast if it is on."""
    kind = x.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else x.dtype


def group_means(x: Tensor, groups: EdgeGroups) -> Tensor:
    """Return the mean of the sources of every group."""
    means: Tensor = _MeanByGroup.apply(x, groups)  # type: ignore[no-untyped-call]
    return means


class _MeanByGroup(torch.autograd.Function):
    """Maps node vectors to the mean of every group."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, groups: EdgeGroups) -> Tensor:
        ctx.groups = groups
        return bag_sums(x, groups.sources, groups.starts, groups.weights)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        groups: EdgeGroups = ctx.groups
        return bag_sums(gradients[0], groups.fed, groups.fed_starts, groups.fed_weights), None


class _SumByTarget(torch.autograd.Function):
    """Sums the contributions of the groups at their targets."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, groups: EdgeGroups) -> Tensor:
        ctx.groups = groups
        return bag_sums(rows, groups.reached, groups.reached_starts)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return gradients[0].index_select(0, ctx.groups.targets), None


class _AddByRelation(torch.autograd.Function):
    """Adds to every group the vector of its relation."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, vectors: Tensor, groups: EdgeGroups) -> Tensor:
        ctx.groups = groups
        return rows + vectors.index_select(0, groups.ranks)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        groups: EdgeGroups = ctx.groups
        blocks = bag_sums(gradients[0], groups.blocked, groups.block_starts)
        numbers = groups.blocked.new_zeros(0)
        if len(blocks):
            numbers = torch.arange(len(blocks), dtype=torch.int32, device=blocks.device)
        return gradients[0], bag_sums(blocks, numbers, groups.block_ends), None


def grouped_product(rows: Tensor, weights: Tensor, groups: EdgeGroups) -> Tensor:
    """Multiply rows, which are ordered by relation, by the matrix of their relation."""
    if rows.is_cuda and rows.dtype == torch.bfloat16 and len(rows) and fused_products_work(rows.device.index):
        return _fused_product(rows, weights, groups.ends)
    if not groups.sizes:
        return rows.new_zeros(0, weights.shape[-1])
    # The parts are cut with split: every slice would make a gradient of full size.
    parts = zip(torch.split(rows, list(groups.sizes)), weights.unbind(0), strict=True)
    return torch.cat([part @ weight for part, weight in parts])


def _fused_product(rows: Tensor, weights: Tensor, ends: Tensor) -> Tensor:
    """Compute all products in one kernel, which needs both sizes to be multiples of eight."""
    into, out = -weights.shape[1] % 8, -weights.shape[2] % 8
    if into or out:
        rows, weights = functional.pad(rows, (0, into)), functional.pad(weights, (0, out, 0, into))
    product: Tensor = torch._grouped_mm(rows, weights, ends)
    return product[:, :-out] if out else product


@cache
def fused_products_work(device: int) -> bool:
    """Return True if this torch and this GPU can multiply groups in one kernel, forward and backward."""
    if not hasattr(torch, "_grouped_mm"):
        return False
    try:
        rows = torch.ones(24, 16, dtype=torch.bfloat16, device=f"cuda:{device}", requires_grad=True)
        weights = torch.ones(2, 16, 8, dtype=torch.bfloat16, device=rows.device, requires_grad=True)
        with torch.enable_grad():
            ends = torch.tensor([16, 24], dtype=torch.int32, device=rows.device)
            torch.autograd.backward(_fused_product(rows, weights, ends).sum())
    except RuntimeError:
        return False
    return True
