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
    """Options that engines share: how a search that need not be exact finds candidates among entries of many rows.

    An exact search scores every entry, whatever the options.
    """

    first: str = "exact"
    """`exact`: there is no first stage; `fde`: a fixed-dimensional encoding of the rows is kept and searched first."""
    planes: int = 0
    """Planes that cut space into cells; 0: one cell, the mean of all rows."""
    repetitions: int = 1
    """Cuts, where there are planes."""
    projected: int = 4000
    """Numbers to which the rows of a cell are projected; with as many as a row has they stay as they are."""
    oversampling: int = 4
    """Candidates for each result that is wanted."""
    pool: int = 1000
    """Candidates at least."""

    def __post_init__(self) -> None:
        if self.first not in STAGES:
            raise MathAMRError(f"the first stage is {' or '.join(STAGES)}, not {self.first!r}")
        for name, most in (("oversampling", MOST_OVERSAMPLING), ("pool", MOST_POOL)):
            check_number("first stage", name, getattr(self, name), most)

    def check(self, fields: Sequence[Field]) -> None:
        """Refuses settings of encodings that cannot be made of these fields."""
        for field in fields:
            self.encoding(field)

    def encoding(self, field: Field) -> FixedEncoding | None:
        """How the rows of a field are encoded; none where there is no first stage over it."""
        return self.encoding_of_rows(field.size) if field.many else None

    def encoding_of_rows(self, size: int) -> FixedEncoding | None:
        """How many rows of a size are encoded."""
        if self.first != "fde":
            return None
        return FixedEncoding(size, self.planes, self.repetitions, self.projected)

    def candidates(self, k: int) -> int:
        """How many entries the first stage hands on for k results."""
        return max(self.pool, self.oversampling * k)


def check_number(whose: str, name: str, value: int, most: int) -> None:
    """Refuses an option that is too small or too large."""
    if not 1 <= int(value) <= most:
        raise MathAMRError(f"the {whose}'s {name} is from 1 to {most:,}, not {value}")
