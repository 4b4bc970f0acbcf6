"""`SeedSummary`: the scores of a system trained with several seeds: best seed, mean and deviation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.scores import Scores


@dataclass(frozen=True)
class Spread:
    """A measure over seeds: the mean of the runs' means and their sample standard deviation."""

    mean: float
    deviation: float
    seeds: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Return the spread of one value a seed."""
        deviation = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
        return cls(float(np.mean(values)), deviation, len(values))

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.deviation:.3f}" if self.seeds > 1 else f"{self.mean:.3f}"


@dataclass(frozen=True)
class SeedSummary:
    """The two views of the thesis's tables (section 4.2): the best seed, and all seeds together.

    The best seed is that with the highest mean of the first measure (nDCG' in the thesis); only its scores go into
    significance tests.
    """

    best_seed: int
    best: Scores
    spreads: Mapping[str, Spread]


def summarise(runs: Mapping[int, Scores], measure: str | None = None) -> SeedSummary:
    """Summarise a system's scores by seed; `measure`, by default the first one, determines the best seed.

    Among equally good seeds the smallest is taken.
    """
    if not runs:
        raise MathAMRError("no seeds to summarise")
    first = next(iter(runs.values()))
    chosen = measure or first.measures[0]
    for seed, scores in runs.items():
        if scores.measures != first.measures or scores.topics != first.topics:
            raise MathAMRError(f"seed {seed} was not measured on the same topics and measures as the others")
    best = min(runs, key=lambda seed: (-runs[seed].mean(chosen), seed))
    spreads = {name: Spread.of([scores.mean(name) for scores in runs.values()]) for name in first.measures}
    return SeedSummary(best, runs[best], spreads)
