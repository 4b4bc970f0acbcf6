"""What can be wrong with a formula: errors that end the reading, repairs that do not."""

from __future__ import annotations

from dataclasses import dataclass

from mathamr.core.errors import ParseError


class FormulaError(ParseError):
    """A formula that cannot be read; shows the place with a caret."""


@dataclass(frozen=True, slots=True)
class Repair:
    """Something malformed that was read anyway: what was done, and where."""

    message: str
    offset: int

    def __str__(self) -> str:
        return f"{self.message} (at offset {self.offset})"
