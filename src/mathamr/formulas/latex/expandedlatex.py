"""`ExpandedLatex`: LaTeX as tokens with its macros expanded, which trees, drawings and marks are read from."""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.formulas.budget import Budget
from mathamr.formulas.latex.lexer import tokenize, without_comment_signs
from mathamr.formulas.latex.macros import Macros, expanded
from mathamr.formulas.latex.reader import Reader


class ExpandedLatex:
    """One formula in tokens; it may be read several times, each time within its own budget."""

    def __init__(self, latex: str, macros: Macros, budget: Budget) -> None:
        self.latex, self.macros, self.budget = latex, macros, budget
        tokens, offsets = tokenize(latex)
        self._written = (tokens, offsets)
        self.tokens, self.offsets, self.notes = expanded(tokens, offsets, latex, macros, budget)

    def reader(self, *, wildcards: bool = False, drawn: bool = False) -> Reader:
        """Return a reader at the start, for a tree or for a page."""
        budget = Budget(0)
        budget.limit, budget.left = self.budget.limit, self.budget.left
        return Reader(self.tokens, self.offsets, self.latex, budget, wildcards=wildcards, drawn=drawn)

    def uncommented(self) -> tuple[ExpandedLatex, int] | None:
        """Return the formula without the comment signs that hide all of it, and the place of the first; None if there are none."""
        found = without_comment_signs(self.latex)
        return None if found is None else (ExpandedLatex(found[0], self.macros, self.budget), found[1])

    def ranges(self) -> Sequence[tuple[int, int]]:
        """Return the range of every token in the LaTeX; the symbols of a macro are at its call."""
        lengths = {offset: len(token) for token, offset in zip(*self._written, strict=True)}
        return [(offset, offset + lengths.get(offset, 1)) for offset in self.offsets]
