"""Sums over contiguous segments of rows, by gathering: the same bits every time, on every device."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional


def bag_sums(rows: Tensor, index: Tensor, starts: Tensor, weights: Tensor | None = None) -> Tensor:
    """Return the weighted sum of `rows[index[starts[b] : starts[b + 1]]]` for every bag b, without gradients."""
    if not len(rows) or len(starts) == 1:
        return rows.new_zeros(len(starts) - 1, rows.shape[1])
    with torch.no_grad():
        return functional.embedding_bag(
            index,
            rows.contiguous(),
            starts,
            mode="sum",
            per_sample_weights=None if weights is None else weights.to(rows.dtype),
            include_last_offset=True,
        )


def segment_sums(rows: Tensor, starts: Tensor, owners: Tensor) -> Tensor:
    """Sum `rows[starts[s] : starts[s + 1]]` for every segment s; row r belongs to segment `owners[r]`."""
    sums: Tensor = _SegmentSums.apply(rows, starts, owners)  # type: ignore[no-untyped-call]
    return sums


class _SegmentSums(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, starts: Tensor, owners: Tensor) -> Tensor:
        ctx.save_for_backward(owners)
        numbers = torch.arange(len(rows), dtype=starts.dtype, device=rows.device)
        return bag_sums(rows, numbers, starts)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        (owners,) = ctx.saved_tensors
        return gradients[0].index_select(0, owners), None, None
