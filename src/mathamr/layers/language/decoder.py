"""A decoder as a text encoder: the layers of Llama, Mistral, Qwen2 and Qwen3, which embedding models are made of.

Normalised before each part (RMSNorm), rotary positions, fewer keys than queries (grouped-query attention), SwiGLU; a piece sees
those before it. The states, token by token, are what a system reads; a vector of a span is their mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from mathamr.errors import MathAMRError
from mathamr.layers.language.configuration import TransformerConfiguration
from mathamr.layers.language.transformer import Transformer

MOST = 1_000_000
"""No shape of a decoder has a number beyond this."""


@dataclass(frozen=True, slots=True)
class DecoderConfiguration(TransformerConfiguration):
    """The shape of a decoder: how many keys and values are shared by its queries, and how positions turn.

    `biased` layers of attention add a bias to queries, keys and values (Qwen2); `normed` ones normalise queries and
    keys (Qwen3).
    """

    key_heads: int = 1
    head_size: int = 64
    theta: float = 10_000.0
    biased: bool = False
    normed: bool = False
    dropout: float = 0.0
    epsilon: float = 1e-6

    def __post_init__(self) -> None:
        for name in ("pieces", "size", "layers", "heads", "inner", "key_heads", "head_size"):
            if not 1 <= getattr(self, name) <= MOST:
                raise MathAMRError(f"a decoder's {name} is from 1 to {MOST:,}, not {getattr(self, name)}")
        if self.heads % self.key_heads or self.head_size % 2 or not 0 < self.epsilon < 1:
            raise MathAMRError(
                f"a decoder cannot have {self.heads} queries for {self.key_heads} keys of size {self.head_size}"
            )
        if not 1 <= self.theta <= 1e12:
            raise MathAMRError(f"positions cannot turn by a base of {self.theta}")


class Decoder(Transformer):
    """States of word pieces, each in the context of those before it; for the rest as the transformer of BERT's kind."""

    configuration: TransformerConfiguration

    def __init__(self, configuration: DecoderConfiguration) -> None:
        nn.Module.__init__(self)
        self.configuration = configuration
        self.pieces = nn.Embedding(configuration.pieces, configuration.size)
        self.layers = nn.ModuleList(DecoderLayer(configuration) for _ in range(configuration.layers))
        self.norm = RootNorm(configuration.size, configuration.epsilon)  # type: ignore[assignment]
        self.head = None
        self._head_size, self._theta = configuration.head_size, configuration.theta

    def forward(self, numbers: Tensor, lengths: Tensor) -> Tensor:
        """The states of rows of pieces (rows, width); what lies beyond a row's length is never looked at."""
        places = torch.arange(numbers.shape[1], device=numbers.device)
        seen = (places < lengths[:, None])[:, None, None, :] & (places[:, None] >= places)
        # A row of padding sees itself: attention to nothing has no value.
        mask = seen | torch.eye(len(places), dtype=torch.bool, device=numbers.device)
        turns = self._turns(places)
        x: Tensor = self.pieces(numbers)
        for layer in self.layers:
            x = layer(x, mask, turns)
        result: Tensor = self.norm(x)
        return result

    def _turns(self, places: Tensor) -> tuple[Tensor, Tensor]:
        steps = torch.arange(0, self._head_size, 2, device=places.device).float() / self._head_size
        angles = places[:, None].float() / self._theta**steps
        both = torch.cat([angles, angles], -1)
        return both.cos(), both.sin()


class DecoderLayer(nn.Module):
    """Attention and a gated network, each of the normalised states, and added to them."""

    def __init__(self, configuration: DecoderConfiguration) -> None:
        super().__init__()
        size, inner, one = configuration.size, configuration.inner, configuration.head_size
        self.heads, self.key_heads, self.one = configuration.heads, configuration.key_heads, one
        self.query = nn.Linear(size, self.heads * one, bias=configuration.biased)
        self.key = nn.Linear(size, self.key_heads * one, bias=configuration.biased)
        self.value = nn.Linear(size, self.key_heads * one, bias=configuration.biased)
        self.attended = nn.Linear(self.heads * one, size, bias=False)
        self.gate = nn.Linear(size, inner, bias=False)
        self.inner = nn.Linear(size, inner, bias=False)
        self.outer = nn.Linear(inner, size, bias=False)
        self.attention_norm = RootNorm(size, configuration.epsilon)
        self.outer_norm = RootNorm(size, configuration.epsilon)
        self.query_norm = RootNorm(one, configuration.epsilon) if configuration.normed else nn.Identity()
        self.key_norm = RootNorm(one, configuration.epsilon) if configuration.normed else nn.Identity()

    def forward(self, x: Tensor, mask: Tensor, turns: tuple[Tensor, Tensor]) -> Tensor:
        """The refined states; the mask says what is looked at, the turns where each piece stands."""
        x = x + self._attention(self.attention_norm(x), mask, turns)
        y = self.outer_norm(x)
        result: Tensor = x + self.outer(functional.silu(self.gate(y)) * self.inner(y))
        return result

    def _attention(self, x: Tensor, mask: Tensor, turns: tuple[Tensor, Tensor]) -> Tensor:
        rows, width, _ = x.shape

        def heads(vectors: Tensor, count: int) -> Tensor:
            return vectors.view(rows, width, count, self.one)

        query = _turned(self.query_norm(heads(self.query(x), self.heads)).transpose(1, 2), turns)
        key = _turned(self.key_norm(heads(self.key(x), self.key_heads)).transpose(1, 2), turns)
        value = heads(self.value(x), self.key_heads).transpose(1, 2)
        shared = self.heads // self.key_heads
        found = functional.scaled_dot_product_attention(
            query.to(value.dtype),
            key.to(value.dtype).repeat_interleave(shared, 1),
            value.repeat_interleave(shared, 1),
            attn_mask=mask,
        )
        result: Tensor = self.attended(found.transpose(1, 2).reshape(rows, width, self.heads * self.one))
        return result


class RootNorm(nn.Module):
    """A vector divided by the root of its mean square, scaled (Zhang and Sennrich, 2019)."""

    def __init__(self, size: int, epsilon: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.epsilon = epsilon

    def forward(self, x: Tensor) -> Tensor:
        """Vectors of the same size."""
        wide = x.float()
        result: Tensor = self.weight * (
            wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.epsilon)
        )
        return result


def _turned(vectors: Tensor, turns: tuple[Tensor, Tensor]) -> Tensor:
    """Vectors turned by their places, the first half of the numbers with the second (Su et al., 2021)."""
    first, second = vectors.chunk(2, -1)
    return vectors * turns[0] + torch.cat([-second, first], -1) * turns[1]
