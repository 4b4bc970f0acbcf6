"""Defects of a formula: errors that end parsing, and repairs that do not."""

from __future__ import annotations

from dataclasses import dataclass

from mathamr.core.errors import ParseError


class FormulaError(ParseError):
    """A formula that cannot be parsed; it shows the place with a caret."""


@dataclass(frozen=True, slots=True)
class Repair:
    """Something malformed that was parsed anyway: what was done, and where."""

    message: str
    offset: int

    def __str__(self) -> str:
        return f"{self.message} (at offset {self.offset})"
