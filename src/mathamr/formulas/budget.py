"""The work that one formula may cost: it is spent while the formula is parsed, never counted afterwards."""

from __future__ import annotations

from mathamr.core.errors import MathAMRError

FREE = 3_000
PER_CHARACTER = 10
"""The steps that any formula may cost, and those that each character adds; real formulas need at most a tenth of them."""
MOST_ELEMENTS = 200_000
"""The maximum number of MathML elements and of tree nodes, whatever the length of the formula."""


class SpentError(MathAMRError):
    """The work is spent; the caller, who knows the formula, raises a `FormulaError`."""

    def __init__(self) -> None:
        super().__init__(
            "more work than a formula of this length may cost: something in it repeats itself too often"
        )


class Budget:
    """A number of parsing steps, in proportion to the length of the source.

    Short notation may expand to long formulas (macros, commands that repeat their argument), and nesting makes it grow
    without bound: `\\pdv[\\pdv[…` doubles with every level. Real formulas need a step or two per character.
    """

    __slots__ = ("left", "limit")

    def __init__(self, characters: int) -> None:
        self.limit = FREE + PER_CHARACTER * characters
        self.left = self.limit

    @property
    def elements(self) -> int:
        """The number of MathML elements that the formula may become."""
        return min(self.limit, MOST_ELEMENTS)

    def spend(self, steps: int = 1) -> None:
        """Take some steps; raise `SpentError` if too few are left."""
        self.left -= steps
        if self.left < 0:
            raise SpentError
