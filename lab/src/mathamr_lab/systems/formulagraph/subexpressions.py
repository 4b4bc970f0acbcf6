"""Sub-expressions of formula trees, drawn again in each epoch (Amador and Zanibbi, section 3)."""

from __future__ import annotations

import numpy as np

from mathamr.core.arrays import AnyArray
from mathamr.graphs.formulashard import FormulaTrees
from mathamr.systems.formulagraph.batch import Chosen, node_ranges


class Subexpressions:
    """Sub-expressions of trees (Amador and Zanibbi, section 3): a random internal node is removed, and the largest part is kept.

    Among equally large parts the one above is kept, then the first below. A tree without an internal node is unchanged.
    """

    def __init__(self, trees: FormulaTrees) -> None:
        self._trees = trees
        counts = np.diff(trees.starts)
        of = np.repeat(np.arange(len(trees)), counts)
        self._internal = np.flatnonzero(trees.sizes > 1)
        self._internal_starts = np.searchsorted(of[self._internal], np.arange(len(trees) + 1))
        self._heaviest = _heaviest(trees, of)

    def drawn(self, chosen: AnyArray, chance: np.random.Generator) -> Chosen:
        """Draws one sub-expression of each of these trees, which are in ascending order."""
        begins = self._internal_starts[chosen]
        many = self._internal_starts[chosen + 1] - begins
        drawn = begins + np.minimum((chance.random(len(chosen)) * many).astype(np.int64), many - 1)
        removed = np.where(many > 0, self._internal[np.where(many > 0, drawn, 0)], -1)
        return self.without(chosen, removed)

    def without(self, chosen: AnyArray, removed: AnyArray) -> Chosen:
        """Returns the largest part of each tree without one of its nodes; -1 removes nothing."""
        trees = self._trees
        start, end = trees.starts[chosen], trees.starts[chosen + 1]
        gone = np.maximum(removed, 0)
        size = np.where(removed < 0, 0, trees.sizes[gone])
        heavy = self._heaviest[gone]
        below = np.where((removed < 0) | (heavy < 0), 0, trees.sizes[heavy])
        above = end - start - size
        keeps_above = above >= below
        # The kept part is two runs of nodes, before and after the removed one, or only the largest part below.
        firsts = np.where(keeps_above, start, heavy)
        first_ends = np.where(keeps_above, np.where(removed < 0, end, removed), heavy + below)
        seconds = np.where(keeps_above & (removed >= 0), removed + size, first_ends)
        second_ends = np.where(keeps_above & (removed >= 0), end, first_ends)
        begins = np.stack([firsts, seconds], 1).ravel()
        counts = np.stack([first_ends - firsts, second_ends - seconds], 1)
        return Chosen(node_ranges(begins, counts.ravel()), counts.sum(1))


def _heaviest(trees: FormulaTrees, of: AnyArray) -> AnyArray:
    """Returns for every node, by its number among all nodes, its first child with the most nodes, or -1."""
    children = np.flatnonzero(trees.parents >= 0)
    above = trees.starts[of[children]] + trees.parents[children]
    order = np.lexsort((children, -trees.sizes[children].astype(np.int64), above))
    firsts = np.ones(len(order), np.bool_)
    firsts[1:] = above[order][1:] != above[order][:-1]
    found = np.full(len(trees.labels), -1, np.int64)
    found[above[order][firsts]] = children[order][firsts]
    return found
