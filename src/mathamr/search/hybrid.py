"""`HybridConfiguration`: how lexical, structural and dense evidence become one ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mathamr.index.engines.entry import Scored
from mathamr.search.fusion import fuse, takes_normalisation


@dataclass(frozen=True, slots=True)
class Blend:
    """Which components are asked for a task, and how their rankings are fused; one of weight 0 is not asked."""

    weights: Mapping[str, float]
    fusion: str = "mean"
    normalisation: str = "min-max"
    """How scores are made comparable, for fusions that look at scores."""

    @property
    def components(self) -> list[str]:
        """The components that count."""
        return [name for name, weight in self.weights.items() if weight > 0]

    def fused(self, rankings: Mapping[str, Sequence[Scored]]) -> list[Scored]:
        """One ranking of those that the components gave."""
        weights = [self.weights[name] for name in rankings]
        normalisation = self.normalisation if takes_normalisation(self.fusion) else None
        return fuse(self.fusion, list(rankings.values()), weights, normalisation=normalisation)


@dataclass(frozen=True, slots=True)
class HybridConfiguration:
    """The blends of both tasks, and how many candidates each component may bring.

    The components of answers are `lexical` (words and formulas by BM25), `single` (the vector of the whole post),
    `maxsim` (all its vectors) and `rerank`; those of formulas `lexical` and `single` (the formula's vector).
    """

    answers: Blend = field(
        default_factory=lambda: Blend({"lexical": 1.0, "single": 2.0, "maxsim": 4.0}, normalisation="z")
    )
    formulas: Blend = field(
        default_factory=lambda: Blend({"lexical": 1.0, "single": 0.25}, normalisation="z")
    )
    depth: int = 1000
