"""`RankedResult`: one line of a ranking; `Placement`: the rank of one post."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

GRADE = "grade"
"""The name under which evidence lists the grade of a post's formulas (`FormulaGrader`)."""
PARENT = "parent"
"""The name under which evidence lists the score of a post's parent, in standard deviations."""
MEMBER = "member"
"""The name under which evidence lists the score of the best member of a post, where the post gained by it."""
MOST_GRADED = 10
"""How many of the first results have their formulas graded, and are looked at to say whether anything was found."""
PLACES = 100
"""How many ranks are searched for a post whose rank is wanted."""


@dataclass(frozen=True, slots=True)
class RankedResult:
    """A post, or a formula at its best occurrence (`visual` is its visual class), with its score and evidence.

    `holds` is the visual class of a post's formula that is the query's, or contains it, if it was found by that.

    `exact` is True for a formula of the query's own visual class, or one that fits the query's wildcards.
    """

    id: str
    score: float
    evidence: Mapping[str, float] = field(default_factory=dict)
    visual: str = ""
    holds: str = ""
    exact: bool = False
    share: float = 1.0
    """The score as a share of the best one, before exact matches were promoted."""
    own: float | None = None
    """The score before that; `None` if it is the same."""

    @property
    def shown(self) -> float:
        """The score that a user sees, without what promotion added."""
        return self.score if self.own is None else self.own


@dataclass(frozen=True, slots=True)
class Placement:
    """The rank of a post under one strategy, counted from 1, and the score of each component."""

    place: int
    strategy: str
    score: float
    evidence: Mapping[str, float]

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON values, scores rounded."""
        rounded = {name: round(score, 6) for name, score in self.evidence.items()}
        return asdict(self) | {"score": round(self.score, 6), "evidence": rounded}
