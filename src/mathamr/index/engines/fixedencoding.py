"""`FixedEncoding`: many vectors as one, so that an inner product is about MaxSim (MUVERA, arXiv 2405.19504, section 2).

Random planes cut space into cells, the same for queries and entries. An entry's encoding holds for each cell the mean of
its vectors there, and where it has none the vector whose cell differs least; a query's holds the sum of its vectors in
each cell. The inner product then adds up, for every vector of the query, its cosine with what the entry has nearby: about
the best cosine, where planes keep alike vectors together. Several cuts are made and averaged; a random projection makes
each cell's part smaller, and keeps inner products on average.

All of it follows from a seed: encodings that were made on different days and machines compare.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from mathamr.core.arrays import FloatArray, IntArray
from mathamr.core.errors import MathAMRError

MOST_PLANES = 8
LARGEST = 4000
"""Numbers an encoding has at most: what Postgres can index (halfvec), and four times what was found useful."""
_AT_A_TIME = 1 << 14
"""Vectors that are encoded at a time: what is made of them stays in the cache."""


@dataclass(frozen=True)
class FixedEncoding:
    """How vectors of one size become encodings; equal settings give equal encodings."""

    size: int
    """Numbers of a vector."""
    planes: int = 4
    """Planes of a cut; it has two to this power cells."""
    repetitions: int = 8
    """Cuts."""
    projected: int = 8
    """Numbers to which a cell's vector is projected; as many as a vector has, or more: nothing is projected."""
    seed: int = 20

    def __post_init__(self) -> None:
        if not 0 <= self.planes <= MOST_PLANES:
            raise MathAMRError(f"a fixed encoding has 0 to {MOST_PLANES} planes, not {self.planes}")
        if self.repetitions < 1 or self.projected < 1 or self.size < 1:
            raise MathAMRError("a fixed encoding has one repetition and one number a cell at least")
        if self.length > LARGEST:
            raise MathAMRError(
                f"a fixed encoding has {LARGEST:,} numbers at most, not {self.length:,}: take fewer planes,"
                " repetitions or projected numbers"
            )

    @property
    def cells(self) -> int:
        """Cells of a cut."""
        return 1 << self.planes

    @property
    def width(self) -> int:
        """Numbers of a cell."""
        return min(self.projected, self.size)

    @property
    def length(self) -> int:
        """Numbers of an encoding."""
        return self.repetitions * self.cells * self.width

    @cached_property
    def _normals(self) -> FloatArray:
        """The planes of all cuts, one beside the other: Gaussian, so that no direction is preferred (SimHash)."""
        draw = np.random.default_rng([self.seed, self.size, 0])
        return draw.standard_normal((self.size, self.repetitions * self.planes)).astype(np.float32)

    @cached_property
    def _projections(self) -> FloatArray:
        """A random projection for each cut, with entries ±1/√width."""
        draw = np.random.default_rng([self.seed, self.size, 1])
        signs = draw.integers(0, 2, (self.size, self.repetitions * self.width)) * 2 - 1
        projections: FloatArray = (signs / np.sqrt(self.width)).astype(np.float32)
        return projections

    def _cut(self, vectors: FloatArray) -> tuple[IntArray, FloatArray]:
        """For each repetition and vector its cell, and its projection."""
        sides = (vectors @ self._normals > 0).reshape(len(vectors), self.repetitions, self.planes)
        cells = sides @ (1 << np.arange(self.planes, dtype=np.int64))
        if self.width == self.size:
            return cells.T, np.broadcast_to(vectors, (self.repetitions, *vectors.shape))
        projected = (vectors @ self._projections).reshape(len(vectors), self.repetitions, self.width)
        return cells.T, np.ascontiguousarray(projected.transpose(1, 0, 2))

    def query(self, vectors: FloatArray) -> FloatArray:
        """The encoding of a query: its inner product with an entry's is about the MaxSim of both, a mean of cosines."""
        encoding = np.zeros((self.repetitions, self.cells, self.width), np.float32)
        for own, cells, projected in zip(encoding, *self._cut(vectors), strict=True):
            np.add.at(own, cells, projected)
        encoding /= np.float32(self.repetitions * max(1, len(vectors)))
        return encoding.ravel()

    def entries(self, vectors: FloatArray, starts: npt.NDArray[np.integer]) -> FloatArray:
        """The encodings of entries, whose vectors stand one after the other, entry i from `starts[i]` on; none is empty."""
        bounds = np.append(np.asarray(starts, np.int64), len(vectors))
        if (np.diff(bounds) < 1).any():
            raise MathAMRError("an entry without vectors cannot be encoded")
        encodings = np.empty((len(starts), self.length), np.float32)
        for begin, end in _pieces(bounds):
            own = vectors[bounds[begin] : bounds[end]].astype(np.float32, copy=False)
            encodings[begin:end] = self._encoded(own, bounds[begin:end] - bounds[begin])
        return encodings

    def _encoded(self, vectors: FloatArray, starts: IntArray) -> FloatArray:
        count = len(starts)
        owners = np.repeat(np.arange(count), np.diff(starts, append=len(vectors)))
        made = np.empty((count, self.repetitions, self.cells, self.width), np.float32)
        for repetition, (cells, projected) in enumerate(zip(*self._cut(vectors), strict=True)):
            if not self.planes:
                own = _means(projected, starts)
            else:
                keys = owners * self.cells + cells
                order = np.argsort(keys, kind="stable")
                filled, firsts = np.unique(keys[order], return_index=True)
                own = self._nearest(cells, projected, starts)
                own[filled] = _means(projected[order], firsts)
            made[:, repetition] = own.reshape(count, self.cells, self.width)
        return made.reshape(count, self.length)

    def _nearest(self, cells: IntArray, projected: FloatArray, starts: IntArray) -> FloatArray:
        """For every entry and cell the vector whose own cell differs by the fewest planes, the first of several."""
        numbers = np.arange(len(cells))
        chosen = np.empty((len(starts), self.cells), np.int64)
        for cell in range(self.cells):
            apart = _BITS[cells ^ cell].astype(np.int64) * len(cells) + numbers
            chosen[:, cell] = np.minimum.reduceat(apart, starts) % len(cells)
        return projected[chosen.ravel()]


_BITS = np.array([number.bit_count() for number in range(1 << MOST_PLANES)], np.uint8)


def _means(rows: FloatArray, starts: IntArray) -> FloatArray:
    """The mean of each run of rows."""
    means: FloatArray = np.add.reduceat(rows, starts, axis=0)
    means /= np.diff(starts, append=len(rows)).astype(np.float32)[:, None]
    return means


def _pieces(bounds: IntArray) -> Iterator[tuple[int, int]]:
    """Runs of entries with about as many vectors as are encoded at a time."""
    begin, last = 0, len(bounds) - 1
    while begin < last:
        end = int(np.searchsorted(bounds, bounds[begin] + _AT_A_TIME, side="right")) - 1
        end = min(last, max(begin + 1, end))
        yield begin, end
        begin = end
