"""Formulas that a question and its answer share: pairs for a loss over formula vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mathamr.core.arrays import AnyArray, IntArray, UInt64Array
from mathamr.graphs.shard import Shard
from mathamr.graphs.virtual import FORMULA_EDGE
from mathamr.posts.level import Level
from mathamr_lab.training.chance import mixed

ALIKE = 0.5
"""How much of their labels two formulas share, at least: intersection over union of the multisets."""
SMALLEST = 4
"""Fewer nodes say too little: a lone symbol is shared by everything."""


@dataclass(frozen=True, slots=True, eq=False)
class FormulaBags:
    """The labels of every formula of a shard: formula f of all has `labels[starts[f] : starts[f + 1]]`.

    `formulas[r]` is the number of the formula that representative r of all stands for, or -1; `hashes` are equal
    for formulas with the same labels.
    """

    starts: IntArray
    labels: IntArray
    formulas: IntArray
    hashes: UInt64Array

    @classmethod
    def of(cls, shard: Shard) -> FormulaBags:
        """Collects the members of every formula's virtual node, over the whole shard at once."""
        columns, starts = shard.columns, shard.starts
        nodes = columns["nodes"].astype(np.int64)
        reps = columns["representatives"] + np.repeat(starts["nodes"][:-1], np.diff(starts["reps"]))
        is_formula = columns["levels"] == Level.FORMULA
        formulas = np.where(is_formula, np.cumsum(is_formula) - 1, -1)
        of_node = np.full(len(nodes), -1, np.int64)
        of_node[reps[is_formula]] = formulas[is_formula]
        shift = np.repeat(starts["nodes"][:-1], np.diff(starts["edges"]))
        edges = columns["relations"] == shard.relations.number(FORMULA_EDGE)
        owners = of_node[(columns["sources"] + shift)[edges]]
        labels = nodes[(columns["targets"] + shift)[edges]]
        order = np.lexsort((labels, owners))
        owners, labels = owners[order], labels[order]
        count = int(is_formula.sum())
        bag_starts = np.append(0, np.cumsum(np.bincount(owners, minlength=count)[:count]))
        totals = np.append(np.uint64(0), np.cumsum(mixed(np.zeros(1, np.uint64), labels)))
        return cls(bag_starts, labels, formulas.astype(np.int64), np.diff(totals[bag_starts]))

    def shared(self, ours: AnyArray, theirs: AnyArray) -> list[tuple[int, int]]:
        """Pairs of places in the two lists of formulas: for each of ours the likest of theirs, if alike enough."""
        lists = [self.labels[self.starts[f] : self.starts[f + 1]] for f in (*ours, *theirs)]
        sizes = np.array([len(labels) for labels in lists])
        if not len(ours) or not len(theirs) or not sizes.any():
            return []
        _, columns = np.unique(np.concatenate(lists), return_inverse=True)
        width = int(columns.max()) + 1
        places = np.repeat(np.arange(len(lists)), sizes) * width + columns
        counts = np.bincount(places, minlength=len(lists) * width).reshape(len(lists), width)
        own, other = counts[: len(ours)], counts[len(ours) :]
        found = []
        for place, row in enumerate(own):
            common = np.minimum(row, other).sum(1)
            share = common / np.maximum(1, sizes[place] + sizes[len(ours) :] - common)
            likest = int(share.argmax())
            if share[likest] >= ALIKE and min(sizes[place], sizes[len(ours) + likest]) >= SMALLEST:
                found.append((place, likest))
        return found
