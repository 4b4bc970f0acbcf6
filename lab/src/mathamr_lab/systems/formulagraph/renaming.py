"""Renames formulas consistently: new variables and numbers, so that the network learns to ignore names."""

from __future__ import annotations

import numpy as np

from mathamr.core.arrays import AnyArray
from mathamr.graphs.formulashard import FormulaLabels

LETTERS = 200
"""The number of most frequent variables among which new names are drawn."""
NUMERALS = 40


class Renaming:
    """Draws, for every formula of a batch, a new name for each of its variables and numbers.

    The name depends only on formula and label, so that both views of a formula are renamed alike, every occurrence
    of a variable alike, and different variables differently (names are shifted cyclically).
    """

    def __init__(self, labels: FormulaLabels, variables: float, numbers: float) -> None:
        self.rates = (variables, numbers)
        self._circles = tuple(
            _circle(labels, kind, most) for kind, most in (("V!", LETTERS), ("N!", NUMERALS))
        )
        self._size = len(labels)

    def drawn(self, formulas: int, generator: np.random.Generator) -> AnyArray:
        """Draw for every formula how far its variables and its numbers are shifted; 0 leaves them."""
        moves = np.zeros((2, formulas), np.int64)
        for kind, (rate, circle) in enumerate(zip(self.rates, self._circles, strict=True)):
            if rate and len(circle) > 1:
                moved = generator.random(formulas) < rate
                moves[kind] = np.where(moved, generator.integers(1, len(circle), formulas), 0)
        return moves

    def applied(self, labels: AnyArray, owners: AnyArray, moves: AnyArray) -> AnyArray:
        """Return the labels of nodes under the new names of their formulas."""
        found = labels
        for kind, circle in enumerate(self._circles):
            if not moves[kind].any():
                continue
            place = np.full(self._size, -1, np.int64)
            place[circle] = np.arange(len(circle))
            at = place[labels]
            moved = circle[(at + moves[kind][owners]) % len(circle)]
            found = np.where(at >= 0, moved, found)
        return found


def _circle(labels: FormulaLabels, kind: str, most: int) -> AnyArray:
    special = len(FormulaLabels.special())
    return np.array(
        [
            number
            for number, label in enumerate(labels.labels)
            if number >= special and label.startswith(kind)
        ][:most],
        np.int64,
    )
