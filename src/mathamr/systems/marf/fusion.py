"""The fusion of a formula into a post's token vectors: gated cross-attention (Wang, Zheng and Kani, equations 4 to 6)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class GatedFusion(nn.Module):
    """O = FFN_G(H) ⊙ FFN(H) + E_c with H = MHA(E_c, E_f, E_f); it is initialised to return E_c.

    `inner` is the width of the feed-forward network, by default four times the size.
    """

    def __init__(self, size: int, heads: int, inner: int | None = None) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(size, size)
        self.key_value = nn.Linear(size, 2 * size)
        self.attended = nn.Linear(size, size)
        self.inner = nn.Linear(size, inner or 4 * size)
        self.outer = nn.Linear(inner or 4 * size, size)
        self.gate = nn.Sequential(nn.Linear(size, size), nn.GELU(), nn.Linear(size, size), nn.Sigmoid())
        nn.init.zeros_(self.outer.weight)
        nn.init.zeros_(self.outer.bias)

    def forward(self, context: Tensor, formula: Tensor, counts: Tensor) -> Tensor:
        """Fuse the tokens of posts (posts, tokens, size) with one formula each (posts, tokens, size) of the given lengths.

        A post whose formula has no tokens is unchanged.
        """
        present = counts > 0
        attended = self._attention(context, formula, counts.clamp(min=1))
        added = self.gate(attended) * self.outer(functional.gelu(self.inner(attended)))
        fused: Tensor = context + added * present[:, None, None]
        return fused

    def _attention(self, context: Tensor, formula: Tensor, counts: Tensor) -> Tensor:
        rows, width, size = context.shape
        split = size // self.heads
        query = self.query(context).view(rows, width, self.heads, split).transpose(1, 2)
        key, value = (
            self.key_value(formula).view(rows, formula.shape[1], 2, self.heads, split).permute(2, 0, 3, 1, 4)
        )
        places = torch.arange(formula.shape[1], device=formula.device)
        looked_at = (places < counts[:, None])[:, None, None, :]
        found = functional.scaled_dot_product_attention(query, key, value, attn_mask=looked_at)
        result: Tensor = self.attended(found.transpose(1, 2).reshape(rows, width, size))
        return result
