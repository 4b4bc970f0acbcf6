"""Hashes of all subtrees of many trees at once; equal subtrees have equal hashes."""

from __future__ import annotations

import numpy as np

from mathamr.core.arrays import AnyArray
from mathamr.graphs.formulashard import FormulaTrees

_FIRST, _SECOND, _THIRD = (
    np.uint64(0x9E3779B97F4A7C15),
    np.uint64(0xBF58476D1CE4E5B9),
    np.uint64(0x94D049BB133111EB),
)


def subtree_hashes(trees: FormulaTrees) -> tuple[AnyArray, AnyArray]:
    """Return for every node the hash of its subtree, and its height above its farthest leaf.

    Equal subtrees have equal hashes, operands on the same edge (those of + and the like) in any order.
    """
    above = trees.above()
    depths = _depths(above)
    order = np.argsort(-depths, kind="stable")
    levels = np.flatnonzero(np.diff(depths[order])) + 1
    hashes = mixed(trees.labels.astype(np.uint64) + np.uint64(1))
    heights = np.zeros(len(above), np.int64)
    for nodes in np.split(order, levels):
        nodes = nodes[above[nodes] >= 0]
        if not len(nodes):
            continue
        edges = mixed(trees.edges[nodes].astype(np.uint64) + np.uint64(1 << 32))
        # A sum has no order, so operands on the same edge may come in any order.
        np.add.at(hashes, above[nodes], mixed(mixed(hashes[nodes]) ^ edges))
        np.maximum.at(heights, above[nodes], heights[nodes] + 1)
    return hashes, heights


def _depths(above: AnyArray) -> AnyArray:
    """Return the depth of every node, by pointer doubling."""
    depths = (above >= 0).astype(np.int64)
    jumps = np.where(above >= 0, above, np.arange(len(above)))
    while True:
        further = depths + depths[jumps]
        if np.array_equal(further, depths):
            return depths
        depths, jumps = further, jumps[jumps]


def mixed(values: AnyArray) -> AnyArray:
    """Spread numbers over 64 bits by a fixed function."""
    with np.errstate(over="ignore"):
        values = (values + _FIRST) * _SECOND
        values = (values ^ (values >> np.uint64(30))) * _THIRD
        found: AnyArray = values ^ (values >> np.uint64(27))
    return found
