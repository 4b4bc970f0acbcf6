"""Relative positions in attention: how far apart two pieces are, in buckets, each with a number a head to add.

The buckets are those of T5 (Raffel et al., 2020), which MPNet (Song et al., 2020) took over.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

FARTHEST = 128
"""All distances from here on are in the last bucket."""


class RelativePositions(nn.Module):
    """What attention adds to the likeness of two pieces by their distance; one table for all layers."""

    def __init__(self, buckets: int, heads: int) -> None:
        super().__init__()
        self.table = nn.Embedding(buckets, heads)

    def forward(self, looked_at: Tensor) -> Tensor:
        """The mask of attention (rows, heads, width, width): the table's numbers, and minus infinity where not looked at.

        `looked_at` is (rows, 1, 1, width). The mask is of the kind of numbers that products are made of.
        """
        width, device = looked_at.shape[-1], looked_at.device
        numbers = buckets_of(width, self.table.num_embeddings, device)
        added: Tensor = self.table(numbers).permute(2, 0, 1)[None]
        if torch.is_autocast_enabled(device.type):
            added = added.to(torch.get_autocast_dtype(device.type))
        return added.masked_fill(~looked_at, -torch.inf)


def buckets_of(width: int, buckets: int, device: torch.device | str = "cpu") -> Tensor:
    """The bucket of every two places (seen from, looked at): near ones each their own, far ones by their logarithm.

    >>> buckets_of(3, 32).tolist()
    [[0, 17, 18], [1, 0, 17], [2, 1, 0]]
    """
    places = torch.arange(width, device=device)
    distance = places[None, :] - places[:, None]
    half = buckets // 2
    exact = half // 2
    far = distance.abs()
    grown = torch.log(far.clamp(min=1).float() / exact) / math.log(FARTHEST / exact) * (half - exact)
    spread = (exact + grown.long()).clamp(max=half - 1)
    return torch.where(far < exact, far, spread) + half * (distance > 0)
