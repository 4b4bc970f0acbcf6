"""Llama's layers as an encoder: rotary positions, RMSNorm, SwiGLU, and every token sees all others (Grattafiori et al., 2024)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

BASE = 10_000.0
"""The slowest rotation turns once in about this many tokens."""


class LlamaLayers(nn.Module):
    """States of rows of tokens; positions beyond a row's length are not seen."""

    def __init__(self, tokens: int, size: int, layers: int, heads: int, inner: int) -> None:
        super().__init__()
        self.pieces = nn.Embedding(tokens, size)
        nn.init.normal_(self.pieces.weight, std=0.02)
        self.layers = nn.ModuleList(LlamaLayer(size, heads, inner) for _ in range(layers))
        self.norm = nn.RMSNorm(size, eps=1e-6)

    def forward(self, numbers: Tensor, lengths: Tensor) -> Tensor:
        """Return the states (rows, width, size)."""
        places = torch.arange(numbers.shape[1], device=numbers.device)
        mask = (places < lengths[:, None])[:, None, None, :]
        x: Tensor = self.pieces(numbers)
        for layer in self.layers:
            x = layer(x, mask)
        result: Tensor = self.norm(x)
        return result


class LlamaLayer(nn.Module):
    """Attention over rotated tokens and a gated feed-forward network, each of normalised states and added to them."""

    def __init__(self, size: int, heads: int, inner: int) -> None:
        super().__init__()
        self.heads = heads
        self.attention_norm, self.inner_norm = nn.RMSNorm(size, eps=1e-6), nn.RMSNorm(size, eps=1e-6)
        self.attention = nn.Linear(size, 3 * size, bias=False)
        self.attended = nn.Linear(size, size, bias=False)
        self.gated = nn.Linear(size, 2 * inner, bias=False)
        self.outer = nn.Linear(inner, size, bias=False)
        for layer in (self.attention, self.attended, self.gated, self.outer):
            nn.init.normal_(layer.weight, std=0.02)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return the refined states."""
        rows, width, size = x.shape
        split = self.attention(self.attention_norm(x)).view(rows, width, 3, self.heads, size // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        found = functional.scaled_dot_product_attention(rotate(query), rotate(key), value, attn_mask=mask)
        x = x + self.attended(found.transpose(1, 2).reshape(rows, width, size))
        gate, inner = self.gated(self.inner_norm(x)).chunk(2, dim=-1)
        result: Tensor = x + self.outer(functional.silu(gate) * inner)
        return result


def rotate(x: Tensor) -> Tensor:
    """Return vectors (…, width, size) rotated by their positions, each half with the other (Su et al., RoFormer).

    >>> rotate(torch.ones(1, 1, 2)).tolist()
    [[[1.0, 1.0]]]
    """
    width, half = x.shape[-2], x.shape[-1] // 2
    rates = BASE ** (-torch.arange(half, device=x.device, dtype=torch.float32) / half)
    angles = torch.arange(width, device=x.device, dtype=torch.float32)[:, None] * rates
    cosine, sine = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x[..., :half], x[..., half:]
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], dim=-1)
