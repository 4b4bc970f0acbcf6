"""`TransformerConfiguration`: the shape of the text encoder's transformer, and its windows and positions, without torch."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mathamr.core.arrays import IntArray
from mathamr.core.configured import Configured
from mathamr.core.errors import MathAMRError

WINDOW = 254
"""The number of pieces in one context; with the start and end marks they are 256, as in MiniLM's training."""
WINDOWS = 256
"""The maximum number of windows per post, as many pieces as a long chapter has; formulas and sentences beyond them have no
text vector, and are counted."""
QUERY_WINDOWS = 4
"""The same of a query, which somebody waits for."""
FARTHEST = 128
"""All distances from this one on share the last bucket of relative positions."""


@dataclass(frozen=True, slots=True)
class TransformerConfiguration(Configured):
    """The shape of the transformer; the defaults are those of MiniLM-L6-H384 (Wang et al., 2020).

    `projection` is the size of an output vector; zero returns the states themselves. `buckets` above zero add relative
    positions to attention; `epsilon` is that of the normalisations.
    """

    title: ClassVar[str] = "transformer"
    ranges: ClassVar[Mapping[str, tuple[float, float]]] = {
        **dict.fromkeys(("pieces", "size", "layers", "heads", "inner", "positions"), (1, 100_000)),
        "projection": (0, 100_000),
        "dropout": (0, 0.999),
    }
    later: ClassVar[tuple[str, ...]] = ("buckets", "epsilon")

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

    def check(self) -> None:
        """Refuse sizes that do not fit each other."""
        if self.size % self.heads or self.projection > self.size:
            raise MathAMRError(
                f"a transformer of size {self.size} cannot have {self.heads} heads and projection {self.projection}"
            )
        if not (self.buckets == 0 or 4 <= self.buckets <= 1024) or not 0 < self.epsilon < 1:
            raise MathAMRError(
                f"a transformer has 0 or 4 to 1,024 buckets of relative positions, not {self.buckets},"
                f" and an epsilon between 0 and 1, not {self.epsilon}"
            )


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
