"""`Measure`: the effectiveness of a ranking for one topic, from 0 to 1."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.qrels import RELEVANT
from mathamr.evaluation.runs import DEPTH

Grades = Sequence[int]
RankedGrades = Sequence[int | None]
"""The grades of the results, best first; `None` for an unjudged result."""


@dataclass(frozen=True)
class Measure(ABC):
    """A measure with its parameters; its text (`P'@10`) parses back to it.

    `prime` removes the unjudged results first (Sakai 2007), `relevant` is the lowest grade that counts, `cutoff` is
    how many of the results that are left count.
    """

    prime: bool = False
    relevant: int = RELEVANT
    cutoff: int | None = None

    name: ClassVar[str]
    binary: ClassVar[bool] = True
    primed: ClassVar[bool] = True
    needs_cutoff: ClassVar[bool] = False
    is_tested: ClassVar[bool] = True

    @classmethod
    def made(cls, *, prime: bool = False, relevant: int | None = None, cutoff: int | None = None) -> Self:
        """Return the measure with these parameters; raise an error for one that it does not take."""
        if prime and not cls.primed:
            raise MathAMRError(
                f"measure {cls.name}: it has no prime form, since it counts unjudged results itself; write {cls.name}"
            )
        if relevant is not None and not cls.binary:
            raise MathAMRError(
                f"measure {cls.name}: it takes no (rel=…), since it uses the grades themselves"
            )
        if relevant is not None and relevant < 1:
            raise MathAMRError(f"measure {cls.name}: (rel=…) must be at least 1")
        if cutoff is not None and cutoff < 1:
            raise MathAMRError(f"measure {cls.name}: the number after @ must be at least 1")
        if cutoff is None and cls.needs_cutoff:
            raise MathAMRError(f"measure {cls.name}: it needs a cut-off: write {cls.name}@10")
        return cls(prime, RELEVANT if relevant is None else relevant, cutoff)

    def __str__(self) -> str:
        rel = "" if self.relevant == RELEVANT else f"(rel={self.relevant})"
        cutoff = "" if self.cutoff is None else f"@{self.cutoff}"
        return f"{self.name}{chr(39) * self.prime}{rel}{cutoff}"

    def of(self, ranked: Sequence[str], grades: Mapping[str, int]) -> float:
        """Return the value for one topic: the ids that a run ranked, best first, and the judgments of the topic."""
        found: list[int | None] = [grades.get(item) for item in ranked[:DEPTH]]
        if self.prime:
            found = [grade for grade in found if grade is not None]
        return self.value(found[: self.cutoff], list(grades.values()))

    @abstractmethod
    def value(self, ranked: RankedGrades, judged: Grades) -> float:
        """Return the value from the grades of the counted results and those of all judged items."""

    def is_relevant(self, grade: int | None) -> bool:
        """Return True if a result counts as relevant."""
        return grade is not None and grade >= self.relevant

    def number_relevant(self, judged: Grades) -> int:
        """Return the number of relevant judged items."""
        return sum(grade >= self.relevant for grade in judged)
