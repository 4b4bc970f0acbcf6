"""The work that one formula may cost: it is spent while the formula is read, never counted afterwards."""

from __future__ import annotations

from mathamr.core.errors import MathAMRError

FREE = 3_000
PER_CHARACTER = 10
"""Steps that any formula may cost, and those that its length allows; real formulas need a tenth of it at most."""
MOST_ELEMENTS = 200_000
"""Elements of MathML, and nodes of a tree, whatever the length of the formula."""


class SpentError(MathAMRError):
    """The work is spent; who knows the formula says so with a `FormulaError`."""

    def __init__(self) -> None:
        super().__init__(
            "more work than a formula of this length may cost: something in it repeats itself too often"
        )


class Budget:
    """Steps of reading, in proportion to what the author wrote.

    Short notation may stand for long formulas (macros, commands that repeat their argument), and nested it grows
    without end: `\\pdv[\\pdv[…` doubles with every level. Honest formulas need a step or two a character.
    """

    __slots__ = ("left", "limit")

    def __init__(self, characters: int) -> None:
        self.limit = FREE + PER_CHARACTER * characters
        self.left = self.limit

    @property
    def elements(self) -> int:
        """How many elements of MathML the formula may become."""
        return min(self.limit, MOST_ELEMENTS)

    def spend(self, steps: int = 1) -> None:
        """Takes some steps; too many are an error."""
        self.left -= steps
        if self.left < 0:
            raise SpentError
