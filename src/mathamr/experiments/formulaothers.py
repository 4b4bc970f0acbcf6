"""Ways to rank formulas without a network, over a whole collection: what systems that learn are compared and fused with."""

from __future__ import annotations

import numpy as np

from mathamr.experiments.formulacollection import FormulaCollection
from mathamr.experiments.formulascores import Matrix
from mathamr.formulas.alignment import similarity
from mathamr.formulas.tree import Opt, Slt
from mathamr.systems.training.formulaorders import SharedParts

ALIGNED_POOL = 200
"""Candidates whose trees are aligned: the first by shared parts; the others follow in that order."""


def other_scores(name: str, collection: FormulaCollection) -> Matrix:
    """What every candidate is worth to every topic by ``shared parts`` or by ``alignment``."""
    parts, first = SharedParts(collection.shard), len(collection.candidates)
    shared = np.stack([parts.scores(first + topic)[:first] for topic in range(len(collection.topics))])
    return shared.astype(np.float32) if name == "shared parts" else _aligned(collection, shared)


def _aligned(collection: FormulaCollection, shared: Matrix) -> Matrix:
    place = {name: number for number, name in enumerate(collection.candidates)}
    best = shared.max(axis=1, keepdims=True)
    # Below every score of an alignment, in the order of shared parts.
    found: Matrix = (shared / np.maximum(best, 1e-9) - 2).astype(np.float32)
    for topic, name in enumerate(collection.topics):
        if collection.among_judged:
            chosen = np.array([place[item] for item in collection.grades[name]])
        else:
            chosen = np.argsort(-shared[topic], kind="stable")[:ALIGNED_POOL]
        query = _trees(collection, len(collection.candidates) + topic)
        found[topic, chosen] = [similarity(query, _trees(collection, other)) for other in chosen.tolist()]
    return found


def _trees(collection: FormulaCollection, number: int) -> tuple[Opt, Slt]:
    shard = collection.shard
    opt, slt = shard.opt.tree(number, shard.labels, "opt"), shard.slt.tree(number, shard.labels, "slt")
    return Opt(opt.labels, opt.parents, opt.edges), Slt(slt.labels, slt.parents, slt.edges)
