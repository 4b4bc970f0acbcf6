"""`TreeCache`: a cache of formula trees that is bounded by an estimate of its bytes."""

from __future__ import annotations

from typing import NamedTuple

from mathamr.core.cache import Cache
from mathamr.formulas.tree import Opt, Slt, Tree

LARGEST_SHARE = 50
"""A formula that takes more than one part in this many is not cached: it would evict hundreds of short ones."""
_ENTRY, _TREE, _NODE, _LETTER = 500, 250, 100, 4
"""Upper bounds in bytes: an entry without its trees, a tree, each of its nodes, each letter of a label."""
_SMALL, _NUMBER = 250, 32
"""Python shares small integers; each larger one takes this many bytes."""

TreeKey = tuple[str, tuple[str, ...]]
"""LaTeX and its macros."""


class Readings(NamedTuple):
    """The trees of one formula, from one parse; all are `None` if the formula cannot be read."""

    opt: Opt | None
    slt: Slt | None
    repaired: bool
    meant: Opt | None = None
    """The operator tree of the mathematician's reading, if it was needed."""

    @property
    def size(self) -> int:
        """Return the size in memory in bytes; shared labels are counted fully."""
        return _ENTRY + sum(map(_size, (self.opt, self.slt, self.meant)))


class TreeCache(Cache[TreeKey, Readings]):
    """The trees of formulas, bounded by bytes; very large ones are not cached."""

    def __init__(self, size: int) -> None:
        super().__init__(weight=size, weigh=_bytes, heaviest=size // LARGEST_SHARE)


def _bytes(key: TreeKey, readings: Readings) -> int:
    return readings.size + _LETTER * (len(key[0]) + sum(map(len, key[1])))


def _size(tree: Tree | None) -> int:
    if tree is None:
        return 0
    count = len(tree.labels)
    numbers = 0 if count < _SMALL else count * _NUMBER
    return _TREE + count * _NODE + _LETTER * sum(map(len, tree.labels)) + numbers
