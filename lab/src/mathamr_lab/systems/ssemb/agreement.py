"""InfoNCE over two views of the same graphs (SSEmb, section 2.1.2)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def agreement_loss(one: Tensor, other: Tensor, temperature: float) -> Tensor:
    """InfoNCE over two views of the same graphs, in both directions: the other graphs of the batch are negatives."""
    scores = one @ other.T / temperature
    wanted = torch.arange(len(scores), device=scores.device)
    return (functional.cross_entropy(scores, wanted) + functional.cross_entropy(scores.T, wanted)) / 2
