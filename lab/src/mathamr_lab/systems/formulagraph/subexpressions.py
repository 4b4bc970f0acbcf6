"""Sub-expressions of formula trees, drawn again in each epoch, the same in both views (Amador and Zanibbi, section 3, figure 2)."""

from __future__ import annotations

import numpy as np

from mathamr.core.arrays import AnyArray
from mathamr.graphs.formulashard import FormulaTrees
from mathamr.systems.formulagraph.batch import Chosen
from mathamr.systems.layers.stack import node_ranges


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

    def removed(self, chosen: AnyArray, generator: np.random.Generator) -> AnyArray:
        """Draw an internal node of each of these trees, by its number among all nodes; -1 for a tree without one."""
        begins = self._internal_starts[chosen]
        many = self._internal_starts[chosen + 1] - begins
        drawn = begins + np.minimum((generator.random(len(chosen)) * many).astype(np.int64), many - 1)
        found: AnyArray = np.where(many > 0, self._internal[np.where(many > 0, drawn, 0)], -1)
        return found

    def drawn(self, chosen: AnyArray, generator: np.random.Generator) -> Chosen:
        """Draw one sub-expression of each of these trees, which are in ascending order."""
        return self.without(chosen, self.removed(chosen, generator))

    def like(self, others: FormulaTrees, chosen: AnyArray, kept: Chosen, instead: AnyArray) -> AnyArray:
        """Return the internal node of each tree whose removal keeps the symbols that `kept` has of its other view.

        The symbols of both views are the labels that occur in both trees of a formula; the removal with the highest share of
        common symbols (Dice's coefficient) is taken, among equals the one that keeps the fewest nodes. Where there is nothing to choose from, it is the node of `instead`.
        """
        begins, ends = self._internal_starts[chosen], self._internal_starts[chosen + 1]
        counts = np.where(instead >= 0, ends - begins, 0)
        rows = np.repeat(np.arange(len(chosen)), counts)
        tried = self._internal[node_ranges(begins, counts)]
        if not len(tried):
            return instead
        parts = self.without(chosen[rows], tried)
        candidates = np.repeat(np.arange(len(tried)), parts.counts)
        wanted_rows = np.repeat(np.arange(len(chosen)), kept.counts)
        whole_rows = np.repeat(np.arange(len(chosen)), np.diff(others.starts)[chosen])
        whole = others.labels[node_ranges(others.starts[chosen], np.diff(others.starts)[chosen])]
        span = int(max(others.labels.max(), self._trees.labels.max())) + 1
        known = np.unique(whole_rows * span + whole)
        found_labels = self._trees.labels[parts.nodes]
        is_common = np.isin(rows[candidates] * span + found_labels, known)
        keys, found = np.unique((candidates * span + found_labels)[is_common], return_counts=True)
        wanted_keys, wanted = np.unique(wanted_rows * span + others.labels[kept.nodes], return_counts=True)
        of, label = keys // span, keys % span
        places = np.searchsorted(wanted_keys, rows[of] * span + label)
        places = np.minimum(places, len(wanted_keys) - 1)
        matches = wanted_keys[places] == rows[of] * span + label
        shared = np.bincount(of, np.where(matches, np.minimum(found, wanted[places]), 0), len(tried))
        ours = np.bincount(of, found, len(tried))
        own_counts = np.diff(self._trees.starts)[chosen]
        own_rows = np.repeat(np.arange(len(chosen)), own_counts)
        own = np.unique(
            own_rows * span + self._trees.labels[node_ranges(self._trees.starts[chosen], own_counts)]
        )
        is_wanted = np.isin(wanted_rows * span + others.labels[kept.nodes], own)
        theirs = np.bincount(wanted_rows[is_wanted], minlength=len(chosen))[rows]
        score = 2 * shared / np.maximum(ours + theirs, 1)
        order = np.lexsort((parts.counts, -score, rows))
        firsts = order[np.flatnonzero(np.diff(rows[order], prepend=-1))]
        best = instead.copy()
        best[rows[firsts]] = tried[firsts]
        return best

    def without(self, chosen: AnyArray, removed: AnyArray) -> Chosen:
        """Return the largest part of each tree without one of its nodes; -1 removes nothing."""
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
    """Return for every node, by its number among all nodes, its first child with the most nodes, or -1."""
    children = np.flatnonzero(trees.parents >= 0)
    above = trees.starts[of[children]] + trees.parents[children]
    order = np.lexsort((children, -trees.sizes[children].astype(np.int64), above))
    firsts = np.ones(len(order), np.bool_)
    firsts[1:] = above[order][1:] != above[order][:-1]
    found = np.full(len(trees.labels), -1, np.int64)
    found[above[order][firsts]] = children[order][firsts]
    return found
