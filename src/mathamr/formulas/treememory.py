"""`TreeMemory`: the trees of formulas that were read last, as many as a number of bytes holds."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import NamedTuple

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


class TreeMemory:
    """Trees by what was asked; those that were asked for longest ago go first. For several threads."""

    def __init__(self, size: int) -> None:
        self.limit = size
        self.size = 0
        """Bytes that are taken, never more than the limit."""
        self._known: OrderedDict[Asked, tuple[Readings, int]] = OrderedDict()
        self._looking = threading.Lock()

    def __len__(self) -> int:
        return len(self._known)

    def get(self, asked: Asked) -> Readings | None:
        """The trees, if they are remembered."""
        with self._looking:
            found = self._known.get(asked)
            if found is None:
                return None
            self._known.move_to_end(asked)
            return found[0]

    def put(self, asked: Asked, readings: Readings) -> None:
        """Remembers trees, unless they are very large."""
        size = readings.size + _LETTER * (len(asked[0]) + sum(map(len, asked[1])))
        with self._looking:
            self.size -= self._known.pop(asked, (None, 0))[1]
            if size * LARGEST_SHARE > self.limit:
                return
            self._known[asked] = readings, size
            self.size += size
            while self.size > self.limit:
                self.size -= self._known.popitem(last=False)[1][1]

    def clear(self) -> None:
        """Forgets everything."""
        with self._looking:
            self._known.clear()
            self.size = 0


def _size(tree: Tree | None) -> int:
    if tree is None:
        return 0
    count = len(tree.labels)
    numbers = 0 if count < _SMALL else count * _NUMBER
    return _TREE + count * _NODE + _LETTER * sum(map(len, tree.labels)) + numbers
