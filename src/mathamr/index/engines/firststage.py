"""`FirstStage`: the options of a first stage, in which one vector per entry finds candidates for MaxSim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mathamr.core.errors import MathAMRError
from mathamr.index.engines.fixedencoding import FixedEncoding
from mathamr.systems.field import Field

STAGES = ("exact", "fde")
MOST_POOL = 1_000_000
MOST_OVERSAMPLING = 1000


@dataclass(frozen=True, slots=True)
class FirstStage:
    """Options that engines share: how an approximate search finds candidates among entries of many rows.

    An exact search scores every entry regardless of the options.
    """

    first: str = "exact"
    """`exact`: no first stage; `fde`: a fixed-dimensional encoding of the rows is stored and searched first."""
    planes: int = 0
    """Number of planes that divide space into cells; 0: one cell, the mean of all rows."""
    repetitions: int = 1
    """Number of repetitions, if there are planes."""
    projected: int = 4000
    """Dimension to which the rows of a cell are projected; the dimension of a row means no projection."""
    oversampling: int = 4
    """Number of candidates per requested result."""
    pool: int = 1000
    """Candidates at least."""

    def __post_init__(self) -> None:
        if self.first not in STAGES:
            raise MathAMRError(f"the first stage is {' or '.join(STAGES)}, not {self.first!r}")
        for name, most in (("oversampling", MOST_OVERSAMPLING), ("pool", MOST_POOL)):
            check_number("first stage", name, getattr(self, name), most)

    def check(self, fields: Sequence[Field]) -> None:
        """Raises if encodings with these settings are impossible for these fields."""
        for field in fields:
            self.encoding(field)

    def encoding(self, field: Field) -> FixedEncoding | None:
        """The encoding of the rows of a field; None if it has no first stage."""
        return self.encoding_of_rows(field.size) if field.many else None

    def encoding_of_rows(self, size: int) -> FixedEncoding | None:
        """The encoding of fields with many rows of that size."""
        if self.first != "fde":
            return None
        return FixedEncoding(size, self.planes, self.repetitions, self.projected)

    def candidates(self, k: int) -> int:
        """The number of candidates from the first stage for k results."""
        return max(self.pool, self.oversampling * k)


def check_number(whose: str, name: str, value: int, most: int) -> None:
    """Raises if an option is too small or too large."""
    if not 1 <= int(value) <= most:
        raise MathAMRError(f"the {whose}'s {name} is from 1 to {most:,}, not {value}")
