"""Node masking and edge dropout, which leave virtual nodes and their edges alone (thesis, section 3.4.4)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mathamr.core.arrays import AnyArray, DoubleArray, UInt64Array
from mathamr.graphs.vocabulary import MASK, SPECIAL
from mathamr.systems.layers.stack import GraphStack
from mathamr_lab.training.chance import key, mixed, uniform

MASK_ID = SPECIAL.index(MASK)
_NODES, _EDGES, _INVERSE_EDGES = 0, 1, 2


def augmented(stack: GraphStack, keys: UInt64Array, node_mask: float, edge_drop: float) -> GraphStack:
    """Returns the stack with some nodes masked and some edges dropped; `keys` has one random key per graph."""
    if node_mask:
        hit = _chances(keys, stack.node_counts, _NODES) < node_mask
        node_ids = np.where(hit & ~stack.virtual, np.int32(MASK_ID), stack.node_ids)
        stack = replace(stack, node_ids=node_ids)
    if edge_drop:
        chances = np.concatenate(
            [_chances(keys, stack.edge_counts, kind) for kind in (_EDGES, _INVERSE_EDGES)]
        )
        kept = (chances >= edge_drop) | stack.virtual[stack.sources] | stack.virtual[stack.targets]
        stack = replace(
            stack,
            sources=stack.sources[kept],
            targets=stack.targets[kept],
            relations=stack.relations[kept],
        )
    return stack


def graph_keys(seed: int, epoch: int, slots: AnyArray) -> UInt64Array:
    """Returns the random key of each graph: `slots` are their places in the epoch."""
    return mixed(key(seed, epoch), slots)


def _chances(keys: UInt64Array, counts: AnyArray, kind: int) -> DoubleArray:
    begins = np.cumsum(counts) - counts
    within = np.arange(int(counts.sum())) - np.repeat(begins, counts)
    return uniform(mixed(np.repeat(mixed(keys, kind), counts), within))
