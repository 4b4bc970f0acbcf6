"""`QueryBudget`: how much work one query may cause on the formulas that were found, and what is left of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class FormulaBounds:
    """The work that one query may cause; formulas beyond it keep the rank of their terms, or are shown without marks."""

    read_characters: int = 5_000
    """Characters that are parsed, to compare trees."""
    pattern_characters: int = 15_000
    """Characters that are parsed, to match them with wildcards."""
    pattern_steps: int = 300_000
    """Comparisons of nodes, to match formulas with wildcards."""
    aligned_nodes: int = 100_000
    """Pairs of nodes that are aligned, to rank formulas."""
    alike_nodes: int = 4_000
    """Nodes that a network reads."""
    graded_nodes: int = 100_000
    """Pairs of nodes that are aligned, to say what found formulas are to the query's."""
    marked_nodes: int = 200_000
    """Pairs of nodes that are aligned, to mark what matches in the hits."""
    compared_ngrams: int = 3_000_000
    """N-grams of formulas that are compared, to choose the sentences of snippets and to mark their formulas."""


Affords = Callable[[int], bool]
"""Takes work of this size from the budget; returns False, and takes nothing, if less is left."""


class WorkBudget:
    """An amount of work. What is too large for the rest of it is refused, and what is smaller may still follow.

    >>> budget = WorkBudget(10)
    >>> [budget.affords(size) for size in (6, 5, 4, 1)]
    [True, False, True, False]
    """

    def __init__(self, size: int) -> None:
        self.left = size

    def affords(self, size: int) -> bool:
        """Return True if there is enough left, which is taken."""
        if size > self.left:
            return False
        self.left -= size
        return True


class QueryBudget:
    """The budgets that all stages of one query share."""

    def __init__(self, bounds: FormulaBounds | None = None) -> None:
        self.bounds = bounds or FormulaBounds()
        self.pattern_steps = WorkBudget(self.bounds.pattern_steps)
        self.graded_nodes = WorkBudget(self.bounds.graded_nodes)
        self.marked_nodes = WorkBudget(self.bounds.marked_nodes)
        self.compared_ngrams = WorkBudget(self.bounds.compared_ngrams)
