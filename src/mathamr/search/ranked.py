"""`Demand` and `Ranked`: what a search is asked for, and one line of what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from mathamr.core.errors import MathAMRError
from mathamr.index.engines.entry import Filter

MAX_DEPTH = 10_000
"""Places behind which nobody looks: a ranking is never longer."""
POOL = 1000
"""Posts that `rerank` takes from the document vectors; the thesis uses 1000 and 5000."""
PLACES = 100
"""Places that a post is looked for at when its own is to be told."""


@dataclass(frozen=True, slots=True)
class Demand:
    """How many results, from what, how exactly; `pool` is how many posts `rerank` looks at again.

    With `skims`, what only decides who may be among the results may be a little off.
    """

    depth: int
    where: Filter | None = None
    exact: bool = True
    pool: int = POOL
    skims: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.depth <= MAX_DEPTH:
            raise MathAMRError(
                f"results are given from the first to the {MAX_DEPTH:,}th at most; {self.depth:,} were asked for"
            )
        if self.pool < 1:
            raise MathAMRError(f"rerank needs a pool of at least 1 post, not {self.pool}")


@dataclass(frozen=True, slots=True)
class Ranked:
    """A post, or a formula at its best place (`visual` is how it looks), with its score and that of each component.

    `exact` is a formula that is just what was asked for: the same look, or one that fits the query's wildcards.
    """

    id: str
    score: float
    evidence: Mapping[str, float] = field(default_factory=dict)
    visual: str = ""
    exact: bool = False
    share: float = 1.0
    """The score as a share of the best, before anything was put first."""


@dataclass(frozen=True, slots=True)
class Placed:
    """The place of a post in a strategy's ranking, counted from 1, and the score of each component."""

    place: int
    strategy: str
    score: float
    evidence: Mapping[str, float]

    def to_json(self) -> dict[str, Any]:
        """For JSON."""
        rounded = {name: round(score, 6) for name, score in self.evidence.items()}
        return asdict(self) | {"score": round(self.score, 6), "evidence": rounded}
