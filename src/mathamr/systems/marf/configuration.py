"""`MarfConfiguration`: the sizes of MaRF's three parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from mathamr.core.configured import Configured
from mathamr.core.errors import MathAMRError, UnknownNameError

SCORINGS = ("token", "passage")
"""How formulas are compared while their encoder is trained: token by token (MaxSim), or by one mean vector."""
LAYERS = ("bert", "llama")
"""The kind of a formula encoder's layers; Llama's are the paper's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarfConfiguration(Configured):
    """The sizes of the context encoder's changes, of the formula encoder, of the fusion, and of what is stored.

    `base` names the text encoder to start from, `rank` is that of the changes to it. `size` is that of a token's
    vector. The `formulas` longest formulas of a post are fused: 1 is the paper's longest-formula setting,
    6 its setting with several.
    `stored` is the size of a vector in an index (its first principal components), `rows` the most rows a
    representation has there: neighbouring tokens are pooled; `formula_rows` is the same for a formula in its post.
    `formula_inner` and `fusion_inner` are the widths of feed-forward networks (0: four times the size). With `normalised`
    the LaTeX in a post's text is written by its normalised tokens, as that of its formulas is.
    """

    title: ClassVar[str] = "MaRF"
    later: ClassVar[tuple[str, ...]] = (
        "formula_inner",
        "formula_kind",
        "fusion_inner",
        "normalised",
        "formula_rows",
    )
    ranges: ClassVar[Mapping[str, tuple[float, float]]] = {
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
        "formula_inner": (0, 65536),
        "fusion_inner": (0, 65536),
        "formula_rows": (1, 510),
    }

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
    formula_inner: int = 0
    formula_kind: str = "bert"
    fusion_inner: int = 0
    normalised: bool = False
    formula_rows: int = 16

    def check(self) -> None:
        """Refuse names that are not known, and sizes that do not fit each other."""
        if self.scoring not in SCORINGS:
            raise UnknownNameError("scoring", self.scoring, list(SCORINGS))
        if self.formula_kind not in LAYERS:
            raise UnknownNameError("kind of layers", self.formula_kind, list(LAYERS))
        if self.formula_size % self.formula_heads or self.size % self.fusion_heads:
            raise MathAMRError("a size must be a multiple of its number of heads")
        if self.stored > self.size:
            raise MathAMRError(
                f"stored is {self.stored}, but vectors of size {self.size} have at most {self.size} principal components"
            )


CONFIGURATIONS = {
    "small": MarfConfiguration(),
    "paper": MarfConfiguration(
        base="mathamr-3",
        rank=64,
        size=384,
        formula_layers=8,
        formula_heads=8,
        formula_inner=512,
        formula_kind="llama",
        formula_length=128,
        fusion_heads=8,
        fusion_inner=384,
        scoring="passage",
        formulas=6,
        normalised=True,
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
"""`small` and `paper` are in the box as `marf` and `marf-paper`: `paper` has the paper's method with the largest parts that 12 MB hold."""
