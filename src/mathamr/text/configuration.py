"""`TransformerConfiguration`: the shape of the text encoder's transformer, and its windows and positions, without torch."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mathamr.core.arrays import IntArray
from mathamr.core.configured import known_fields
from mathamr.core.errors import MathAMRError

WINDOW = 254
"""The number of pieces in one context; with the start and end marks they are 256, as in MiniLM's training."""
WINDOWS = 4
"""The maximum number of windows per post; formulas and sentences beyond them have no text vector."""
FARTHEST = 128
"""All distances from this one on share the last bucket of relative positions."""


@dataclass(frozen=True, slots=True)
class TransformerConfiguration:
    """The shape of the transformer; the defaults are those of MiniLM-L6-H384 (Wang et al., 2020).

    `projection` is the size of an output vector; zero returns the states themselves. `buckets` above zero add relative
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
                raise MathAMRError(
                    f"a transformer's {name} must be from 1 to 100,000, got {getattr(self, name)}"
                )
        if self.size % self.heads or not 0 <= self.projection <= self.size or not 0 <= self.dropout < 1:
            raise MathAMRError(
                f"a transformer of size {self.size} cannot have {self.heads} heads, projection {self.projection}"
                f" and dropout {self.dropout}"
            )
        if not (self.buckets == 0 or 4 <= self.buckets <= 1024) or not 0 < self.epsilon < 1:
            raise MathAMRError(
                f"a transformer has 0 or 4 to 1,024 buckets of relative positions, not {self.buckets},"
                f" and an epsilon between 0 and 1, not {self.epsilon}"
            )

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form for a model's folder; fields that the first models lack are written only if they are used."""
        row = asdict(self)
        later = {"buckets": 0, "epsilon": 1e-12}
        return {name: value for name, value in row.items() if name not in later or value != later[name]}

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> TransformerConfiguration:
        """Return the inverse of `to_json`."""
        return cls(**known_fields(cls, row, "transformer"))


def relative_buckets(width: int, buckets: int) -> IntArray:
    """Return the bucket of the distance between any two positions (from, to): near distances have one each, far ones share by logarithm.

    The buckets are those of T5 (Raffel et al., 2020), which MPNet (Song et al., 2020) took over.

    >>> relative_buckets(3, 32).tolist()
    [[0, 17, 18], [1, 0, 17], [2, 1, 0]]
    """
    places = np.arange(width)
    distance = places[None, :] - places[:, None]
    half = buckets // 2
    exact = half // 2
    far = np.abs(distance)
    grown = np.log(np.maximum(far, 1).astype(np.float32) / np.float32(exact))
    grown = grown / np.float32(math.log(FARTHEST / exact)) * np.float32(half - exact)
    spread = np.minimum(exact + grown.astype(np.int64), half - 1)
    found: IntArray = np.where(far < exact, far, spread) + half * (distance > 0)
    return found
