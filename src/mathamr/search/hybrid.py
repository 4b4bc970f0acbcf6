"""`HybridConfiguration`: how lexical, structural and dense evidence become one ranking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class HybridConfiguration:
    """Which components are asked, how many candidates each may bring, and how their rankings are fused.

    The components of answers are `lexical` (words and formulas by BM25), `single` (the vector of the whole post) and
    `maxsim` (all its vectors); those of formulas `lexical` and `single` (the formula's vector). A component of weight
    0 is not asked.
    """

    fusion: str = "mean"
    answers: Mapping[str, float] = field(
        default_factory=lambda: {"lexical": 1.0, "single": 1.0, "maxsim": 1.0}
    )
    formulas: Mapping[str, float] = field(default_factory=lambda: {"lexical": 1.0, "single": 0.5})
    depth: int = 1000
