"""The transformer of the text encoder: BERT's layers (Devlin et al., 2019), over rows of word pieces.

With buckets of relative positions they are MPNet's (Song et al., 2020).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from mathamr.configured import known_fields
from mathamr.errors import MathAMRError
from mathamr.layers.language.relativepositions import RelativePositions


@dataclass(frozen=True, slots=True)
class TransformerConfiguration:
    """The shape of the transformer; the defaults are those of MiniLM-L6-H384 (Wang et al., 2020).

    `projection` is the size of a result; zero leaves the states as they are. `buckets` above zero add relative
    positions to attention; `epsilon` is that of the normalisations.
    """

    pieces: int = 30522
    size: int = 384
    layers: int = 6
    heads: int = 12
    inner: int = 1536
    positions: int = 512
    projection: int = 0
    dropout: float = 0.1
    buckets: int = 0
    epsilon: float = 1e-12

    def __post_init__(self) -> None:
        for name in ("pieces", "size", "layers", "heads", "inner", "positions"):
            if not 1 <= getattr(self, name) <= 100_000:
                raise MathAMRError(f"a transformer's {name} is from 1 to 100,000, not {getattr(self, name)}")
        if self.size % self.heads or not 0 <= self.projection <= self.size or not 0 <= self.dropout < 1:
            raise MathAMRError(
                f"a transformer of size {self.size} cannot have {self.heads} heads, projection {self.projection}"
                f" and dropout {self.dropout}"
            )
        if not (self.buckets == 0 or 4 <= self.buckets <= 1024) or not 0 < self.epsilon < 1:
            raise MathAMRError(
                f"a transformer has no buckets of relative positions, or 4 to 1,024, not {self.buckets},"
                f" and an epsilon between 0 and 1, not {self.epsilon}"
            )

    def to_json(self) -> dict[str, Any]:
        """For a model's folder; what came after the first models is told only where it is used."""
        row = asdict(self)
        later = {"buckets": 0, "epsilon": 1e-12}
        return {name: value for name, value in row.items() if name not in later or value != later[name]}

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> TransformerConfiguration:
        """The inverse of `to_json`."""
        return cls(**known_fields(cls, row, "transformer"))


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
        """The states of rows of pieces (rows, width); what lies beyond a row's length is never looked at."""
        places = torch.arange(numbers.shape[1], device=numbers.device)
        x: Tensor = self.dropout(self.norm(self.pieces(numbers) + self.positions(places)))
        mask = (places < lengths[:, None])[:, None, None, :]
        if self.relative is not None:
            mask = self.relative(mask)
        for layer in self.layers:
            x = layer(x, mask)
        return x

    def pooled(self, states: Tensor, members: Tensor, offsets: Tensor) -> Tensor:
        """The means of states over spans, projected, of length one; span i has members [offsets[i], offsets[i+1])."""
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

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """The refined states; the mask says what is looked at, or what is added to the likeness of two pieces."""
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
