"""`Field`: one collection of vectors in an engine, as a system declares it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from mathamr.core.configured import known_fields
from mathamr.core.errors import MathAMRError, UnknownNameError

FieldTarget = Literal["posts", "formulas", "visual"]
"""What an entry of a field is: a post, a formula at its place in a post, or a visual class (formulas that look the same)."""
KINDS: tuple[FieldTarget, ...] = get_args(FieldTarget)
LARGEST = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """Vectors of one size: one row per entry, or with `many` several rows per entry, which MaxSim compares."""

    name: str
    of: FieldTarget
    size: int
    many: bool = False

    def __post_init__(self) -> None:
        if not self.name.isidentifier() or not self.name.isascii() or len(self.name) > 40:
            raise MathAMRError(
                f"a field's name must be a short word of letters, digits and _, got {self.name!r}"
            )
        if self.of not in KINDS:
            raise UnknownNameError("kind of entry", self.of, list(KINDS))
        if not 1 <= self.size <= LARGEST:
            raise MathAMRError(f"vectors have 1 to {LARGEST:,} numbers, not {self.size}")

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form for a manifest."""
        return asdict(self)

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> Field:
        """Create the field from the JSON of `to_json`; refuse unknown fields."""
        sample = cls(name="name", of="posts", size=1)
        return cls(**known_fields(cls, row, "field", asdict(sample)))
