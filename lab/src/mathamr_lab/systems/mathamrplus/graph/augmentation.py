"""Node masking and edge dropout, which leave virtual nodes and their edges alone (thesis, section 3.4.4).

Random numbers depend on a place rather than on the order of draws: each is a hash of the seed and its purpose (epoch, pair, element).
So an interrupted run and a run with other batches in memory draw the same numbers for the same graph.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mathamr.core.arrays import AnyArray, DoubleArray, UInt64Array
from mathamr.graphs.vocabulary import MASK, SPECIAL
from mathamr.systems.layers.stack import GraphStack

_STEP, _FIRST, _SECOND = (
    np.uint64(0x9E3779B97F4A7C15),
    np.uint64(0xBF58476D1CE4E5B9),
    np.uint64(0x94D049BB133111EB),
)
MASK_ID = SPECIAL.index(MASK)
_NODES, _EDGES, _INVERSE_EDGES = 0, 1, 2


def augmented(stack: GraphStack, keys: UInt64Array, node_mask: float, edge_drop: float) -> GraphStack:
    """Return the stack with some nodes masked and some edges dropped; `keys` has one random key per graph."""
    if node_mask:
        hit = _draw(keys, stack.node_counts, _NODES) < node_mask
        node_ids = np.where(hit & ~stack.virtual, np.int32(MASK_ID), stack.node_ids)
        stack = replace(stack, node_ids=node_ids)
    if edge_drop:
        drawn = np.concatenate([_draw(keys, stack.edge_counts, kind) for kind in (_EDGES, _INVERSE_EDGES)])
        kept = (drawn >= edge_drop) | stack.virtual[stack.sources] | stack.virtual[stack.targets]
        stack = replace(
            stack,
            sources=stack.sources[kept],
            targets=stack.targets[kept],
            relations=stack.relations[kept],
        )
    return stack


def graph_keys(seed: int, epoch: int, slots: AnyArray) -> UInt64Array:
    """Return the random key of each graph: `slots` are their places in the epoch."""
    return mixed(key(seed, epoch), slots)


def _draw(keys: UInt64Array, counts: AnyArray, kind: int) -> DoubleArray:
    begins = np.cumsum(counts) - counts
    within = np.arange(int(counts.sum())) - np.repeat(begins, counts)
    return uniform(mixed(np.repeat(mixed(keys, kind), counts), within))


def mixed(keys: UInt64Array, numbers: AnyArray | int) -> UInt64Array:
    """Derive new keys from keys and numbers: the finaliser of SplitMix64."""
    with np.errstate(over="ignore"):
        state = keys + (np.asarray(numbers).astype(np.uint64) + np.uint64(1)) * _STEP
        state = (state ^ (state >> np.uint64(30))) * _FIRST
        state = (state ^ (state >> np.uint64(27))) * _SECOND
        return np.asarray(state ^ (state >> np.uint64(31)))


def key(*numbers: int) -> UInt64Array:
    """Return the key of a place given by numbers, as an array of one."""
    state = np.zeros(1, np.uint64)
    for number in numbers:
        state = mixed(state, number)
    return state


def uniform(keys: UInt64Array) -> DoubleArray:
    """Return numbers in [0, 1), one for each key.

    >>> values = uniform(mixed(key(7), np.arange(100_000)))
    >>> round(float(values.mean()), 2), bool(values.min() >= 0), bool(values.max() < 1)
    (0.5, True, True)
    """
    return (keys >> np.uint64(11)).astype(np.float64) * 2.0**-53
