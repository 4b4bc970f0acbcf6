"""`MarfConfiguration`: the sizes of MaRF's three parts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from mathamr.core.configured import changed, check_ranges, known_fields
from mathamr.core.errors import MathAMRError, UnknownNameError

SCORINGS = ("token", "passage")
"""How formulas are compared while their encoder is trained: token by token (MaxSim), or by one mean vector."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarfConfiguration:
    """The sizes of the context encoder's changes, of the formula encoder, of the fusion, and of what is stored.

    `base` names the text encoder to start from, `rank` is that of the changes to it. `size` is that of a token's
    vector. The `formulas` longest formulas of a post are fused: 1 is the paper's longest-formula setting,
    6 its setting with several.
    `stored` is the size of a vector in an index (its first principal components), `rows` the most rows a
    representation has there: neighbouring tokens are pooled.
    """

    base: str = "mathamr-2"
    rank: int = 16
    size: int = 128
    length: int = 254
    formula_size: int = 256
    formula_layers: int = 4
    formula_heads: int = 4
    formula_length: int = 96
    fusion_heads: int = 4
    scoring: str = "token"
    formulas: int = 1
    stored: int = 128
    rows: int = 256

    def __post_init__(self) -> None:
        check_ranges(
            self,
            "MaRF configuration",
            {
                "rank": (1, 4096),
                "size": (2, 8192),
                "length": (1, 510),
                "formula_size": (2, 8192),
                "formula_layers": (1, 64),
                "formula_heads": (1, 64),
                "formula_length": (1, 2048),
                "fusion_heads": (1, 64),
                "formulas": (1, 6),
                "stored": (1, 8192),
                "rows": (1, 510),
            },
        )
        if self.scoring not in SCORINGS:
            raise UnknownNameError("scoring", self.scoring, list(SCORINGS))
        if self.formula_size % self.formula_heads or self.size % self.fusion_heads:
            raise MathAMRError("a size must be a multiple of its number of heads")
        if self.stored > self.size:
            raise MathAMRError(f"{self.stored} principal components of vectors of size {self.size}: too many")

    def to_json(self) -> dict[str, Any]:
        """Returns the JSON form for a model's folder."""
        return asdict(self)

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> MarfConfiguration:
        """The inverse of `to_json`."""
        return cls(**known_fields(cls, row, "MaRF"))

    def changed(self, changes: Iterable[str]) -> MarfConfiguration:
        """Returns a copy with some fields changed, each given as ``NAME=VALUE``."""
        result: MarfConfiguration = changed({"MaRF": self}, changes)["MaRF"]
        return result


CONFIGURATIONS = {
    "small": MarfConfiguration(),
    "seed": MarfConfiguration(
        size=384,
        rank=64,
        formula_size=512,
        formula_layers=8,
        formula_heads=8,
        formula_length=256,
        fusion_heads=8,
        formulas=6,
        stored=384,
    ),
    "tiny": MarfConfiguration(
        rank=2,
        size=16,
        length=64,
        formula_size=16,
        formula_layers=1,
        formula_heads=2,
        formula_length=24,
        fusion_heads=2,
        formulas=6,
        stored=8,
        rows=8,
    ),
}
"""`small` fits the box; `seed` has the paper's formula encoder (8 layers, 8 heads, 512; appendix B.3) and stores everything."""
