"""`MathAMRConfiguration`: which context is read, and with which encoder."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from mathamr.core.configured import check_ranges, known_fields
from mathamr.systems.mathamr.context import check_context


@dataclass(frozen=True, slots=True, kw_only=True)
class MathAMRConfiguration:
    """The context of Table 1 that is embedded, the text encoder it starts from, and the rank of the changes to it.

    `length` is how many word pieces of a context are read, without the two marks: the paper's 128 and 256 have them. A vector
    is the mean of the encoder's states, `projected` as the base projects it or as it is.
    """

    context: str = "amr-opt"
    base: str = "mathamr-2"
    rank: int = 16
    length: int = 128
    projected: bool = True

    def __post_init__(self) -> None:
        check_context(self.context)
        check_ranges(self, "MathAMR configuration", {"rank": (1, 4096), "length": (1, 510)})

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form for a model's folder; what older folders lack is left out while it is as it was there."""
        row = asdict(self)
        if self.projected:
            del row["projected"]
        return row

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> MathAMRConfiguration:
        """Read what `to_json` returned."""
        return cls(**known_fields(cls, row, "MathAMR"))
