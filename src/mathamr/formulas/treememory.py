"""`TreeMemory`: the trees of formulas that were read last, as many as a number of bytes holds."""

from __future__ import annotations

from typing import NamedTuple

from mathamr.core.cache import Cache
from mathamr.formulas.semantics.decision import Context
from mathamr.formulas.tree import Opt, Slt, Tree

LARGEST_SHARE = 50
"""One formula takes at most this part of a memory: the trees of a long one would drive out hundreds of short ones."""
_ENTRY, _TREE, _NODE, _LETTER = 500, 250, 100, 4
"""Bytes at most of what is kept with the trees of a formula, of a tree, of each of its nodes, of each letter of labels."""
_SMALL, _NUMBER = 250, 32
"""Python has the small numbers once; each other one takes bytes of its own."""

Asked = tuple[str, tuple[str, ...]] | tuple[str, tuple[str, ...], Context]
"""LaTeX, the macros that it is read with, and what its post says about its letters, if anything."""


class Readings(NamedTuple):
    """The trees of one formula, all made of one parse; those of a formula that cannot be read are `None`."""

    opt: Opt | None
    slt: Slt | None
    repaired: bool
    meant: Opt | None = None
    """The operator tree of the mathematician's reading, if anybody has asked for it."""

    @property
    def size(self) -> int:
        """Bytes in memory; labels that others have too are counted as if they had not."""
        return _ENTRY + sum(map(_size, (self.opt, self.slt, self.meant)))


class TreeMemory(Cache[Asked, Readings]):
    """The trees of formulas, bounded by bytes; very large ones are not kept."""

    def __init__(self, size: int) -> None:
        super().__init__(weight=size, weigh=_bytes, heaviest=size // LARGEST_SHARE)


def _bytes(asked: Asked, readings: Readings) -> int:
    return readings.size + _LETTER * (len(asked[0]) + sum(map(len, asked[1])))


def _size(tree: Tree | None) -> int:
    if tree is None:
        return 0
    count = len(tree.labels)
    numbers = 0 if count < _SMALL else count * _NUMBER
    return _TREE + count * _NODE + _LETTER * sum(map(len, tree.labels)) + numbers
