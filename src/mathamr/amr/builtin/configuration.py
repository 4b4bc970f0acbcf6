"""`NetworkConfiguration`: the shape of the built-in parser's network."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from mathamr.core.configured import known_fields
from mathamr.text.configuration import TransformerConfiguration

GAPS = 33
"""Numbers of words between two nodes, with the direction; greater ones share the outermost."""
TREE = 9
"""Features of two words in the soft dependency tree."""


@dataclass(frozen=True)
class NetworkConfiguration:
    """Sizes of the network; `layers_read` are the encoder's layers whose states it mixes, 0 for the embeddings."""

    concepts: int = 2
    templates: int = 1
    labels: int = 1
    tags: int = 1
    layers_read: tuple[int, ...] = (2, 3, 4, 5, 6)
    states: int = 384
    size: int = 256
    layers: int = 2
    inner: int = 512
    heads: int = 8
    hidden: int = 192
    node: int = 256
    pair: int = 128
    arc: int = 128
    dropout: float = 0.3

    @cached_property
    def transformer(self) -> TransformerConfiguration:
        """The shape of the layers over words."""
        return TransformerConfiguration(
            pieces=1, size=self.size, layers=max(1, self.layers), heads=self.heads, inner=self.inner, positions=1,
            dropout=min(0.2, self.dropout), buckets=32,
        )  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """The JSON form beside the weights."""
        return asdict(self)

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> NetworkConfiguration:
        """The inverse of `to_json`."""
        return cls(**known_fields(cls, row | {"layers_read": tuple(row["layers_read"])}, "parser network"))
