"""The transformer of the text encoder: BERT's layers (Devlin et al., 2019), over rows of word pieces.

With buckets of relative positions they are MPNet's (Song et al., 2020).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from mathamr.text.configuration import TransformerConfiguration, relative_buckets

__all__ = ["Transformer", "TransformerConfiguration", "TransformerLayer"]


class Transformer(nn.Module):
    """States of word pieces in their context, and their means over spans, projected and of length one."""

    def __init__(self, configuration: TransformerConfiguration) -> None:
        super().__init__()
        self.configuration = configuration
        size = configuration.size
        self.pieces = nn.Embedding(configuration.pieces, size)
        self.positions = nn.Embedding(configuration.positions, size)
        self.relative = (
            RelativePositions(configuration.buckets, configuration.heads) if configuration.buckets else None
        )
        self.norm = nn.LayerNorm(size, eps=configuration.epsilon)
        self.dropout = nn.Dropout(configuration.dropout)
        self.layers = nn.ModuleList(TransformerLayer(configuration) for _ in range(configuration.layers))
        self.head = (
            nn.Linear(size, configuration.projection, bias=False) if configuration.projection else None
        )

    def forward(self, numbers: Tensor, lengths: Tensor) -> Tensor:
        """Return the states of rows of pieces (rows, width); attention ignores positions beyond a row's length."""
        places = torch.arange(numbers.shape[1], device=numbers.device)
        x: Tensor = self.dropout(self.norm(self.pieces(numbers) + self.positions(places)))
        mask = (places < lengths[:, None])[:, None, None, :]
        if self.relative is not None:
            mask = self.relative(mask)
        for layer in self.layers:
            x = layer(x, mask)
        return x

    def pooled(self, states: Tensor, members: Tensor, offsets: Tensor) -> Tensor:
        """Return the projected unit means of states over spans; span i has members [offsets[i], offsets[i+1])."""
        means = functional.embedding_bag(members, states.float(), offsets, mode="mean")
        if self.head is not None:
            means = self.head(means.to(self.head.weight.dtype)).float()
        return functional.normalize(means, dim=-1)


class TransformerLayer(nn.Module):
    """Attention and a feed-forward network, each added and then normalised."""

    def __init__(self, configuration: TransformerConfiguration) -> None:
        super().__init__()
        size, inner = configuration.size, configuration.inner
        self.heads, self.rate = configuration.heads, configuration.dropout
        self.attention = nn.Linear(size, 3 * size)
        self.attended = nn.Linear(size, size)
        self.attention_norm = nn.LayerNorm(size, eps=configuration.epsilon)
        self.inner = nn.Linear(size, inner)
        self.outer = nn.Linear(inner, size)
        self.outer_norm = nn.LayerNorm(size, eps=configuration.epsilon)
        self.dropout = nn.Dropout(self.rate)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """Return the refined states; the mask says what is visible, or what is added to the similarity of two pieces."""
        rows, width, size = x.shape
        query, key, value = (
            self.attention(x).view(rows, width, 3, self.heads, size // self.heads).permute(2, 0, 3, 1, 4)
        )
        attended = functional.scaled_dot_product_attention(
            query, key, value, attn_mask=mask, dropout_p=self.rate if self.training else 0.0
        )
        attended = attended.transpose(1, 2).reshape(rows, width, size)
        x = self.attention_norm(x + self.dropout(self.attended(attended)))
        added: Tensor = self.outer(functional.gelu(self.inner(x)))
        result: Tensor = self.outer_norm(x + self.dropout(added))
        return result


class RelativePositions(nn.Module):
    """What attention adds to the similarity of two pieces by their distance; one table for all layers."""

    def __init__(self, buckets: int, heads: int) -> None:
        super().__init__()
        self.table = nn.Embedding(buckets, heads)

    def forward(self, visible: Tensor) -> Tensor:
        """Return the mask of attention (rows, heads, width, width): the table's numbers, and minus infinity for invisible pieces.

        `visible` is (rows, 1, 1, width). The mask has the number type of the products.
        """
        width, device = visible.shape[-1], visible.device
        numbers = torch.from_numpy(relative_buckets(width, self.table.num_embeddings)).to(device)
        added: Tensor = self.table(numbers).permute(2, 0, 1)[None]
        if torch.is_autocast_enabled(device.type):
            added = added.to(torch.get_autocast_dtype(device.type))
        return added.masked_fill(~visible, -torch.inf)
