"""Batches of neighbours: pairs that are hard to distinguish share a batch, where they are each other's negatives."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from mathamr.core.arrays import IntArray


def neighbour_batches(
    vectors: Tensor, size: int, neighbours: int, generator: np.random.Generator
) -> list[IntArray]:
    """Make batches of groups of neighbouring pairs; with one neighbour per group the order is random.

    Every pair is in one batch; a last batch of a single pair is left out because it has no negative.
    """
    groups = _groups(vectors, max(1, neighbours), generator)
    generator.shuffle(groups)
    order = np.concatenate(groups) if groups else np.zeros(0, np.int64)
    cuts = [order[start : start + size] for start in range(0, len(order), size)]
    return [cut for cut in cuts if len(cut) > 1]


def _groups(vectors: Tensor, size: int, generator: np.random.Generator) -> list[IntArray]:
    order = generator.permutation(len(vectors))
    if size == 1:
        return [order[place : place + 1] for place in range(len(order))]
    taken = np.zeros(len(vectors), np.bool_)
    barred = torch.zeros(len(vectors), dtype=vectors.dtype, device=vectors.device)
    groups: list[IntArray] = []
    for seed in order:
        if taken[seed]:
            continue
        likeness = vectors @ vectors[int(seed)] + barred
        nearest = likeness.topk(min(size, int((~taken).sum()))).indices
        barred[nearest] = -torch.inf
        group = nearest.cpu().numpy().astype(np.int64)
        taken[group] = True
        groups.append(group)
    return groups
