"""Sums over bags of rows, by gathering: the same bits every time, on every device."""

from __future__ import annotations

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
