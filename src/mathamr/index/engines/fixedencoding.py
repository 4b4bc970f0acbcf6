"""`FixedEncoding`: encodes many vectors as one, so that an inner product approximates MaxSim (MUVERA, arXiv 2405.19504, section 2).

Random planes divide space into cells, the same for queries and entries. An entry's encoding holds for each cell the mean of its
vectors there, or, if it has none, the vector whose cell differs least; a query's holds the sum of its vectors in each cell. The
inner product then adds up, for every vector of the query, its cosine with the entry's vectors nearby, which approximates the best
cosine if similar vectors share cells. Several partitions are averaged; a random projection reduces the dimension of each cell
and preserves inner products on average.

Everything follows from a seed, so encodings from different days and machines are comparable.
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
"""The largest dimension of an encoding: what Postgres can index (halfvec), and four times what was found useful."""
AT_A_TIME = 1 << 14
"""Number of vectors that are encoded at a time, so that intermediate results fit the CPU cache."""


@dataclass(frozen=True)
class FixedEncoding:
    """The settings of an encoding of vectors of one size; equal settings give equal encodings."""

    size: int
    """Dimension of a vector."""
    planes: int = 4
    """Number of planes; a partition has two to this power cells."""
    repetitions: int = 8
    """Cuts."""
    projected: int = 8
    """Dimension to which a cell's vector is projected; the dimension of a vector or more means no projection."""
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
        """Number of cells of a partition."""
        return 1 << self.planes

    @property
    def width(self) -> int:
        """Dimension of a cell."""
        return min(self.projected, self.size)

    @property
    def length(self) -> int:
        """Dimension of an encoding."""
        return self.repetitions * self.cells * self.width

    @cached_property
    def _normals(self) -> FloatArray:
        """The planes of all partitions side by side; they are Gaussian, so that no direction is preferred (SimHash)."""
        draw = np.random.default_rng([self.seed, self.size, 0])
        return draw.standard_normal((self.size, self.repetitions * self.planes)).astype(np.float32)

    @cached_property
    def _projections(self) -> FloatArray:
        """A random projection for each partition, with entries ±1/√width."""
        draw = np.random.default_rng([self.seed, self.size, 1])
        signs = draw.integers(0, 2, (self.size, self.repetitions * self.width)) * 2 - 1
        projections: FloatArray = (signs / np.sqrt(self.width)).astype(np.float32)
        return projections

    def _cut(self, vectors: FloatArray) -> tuple[IntArray, FloatArray]:
        """The cell and the projection of every vector in each repetition."""
        sides = (vectors @ self._normals > 0).reshape(len(vectors), self.repetitions, self.planes)
        cells = sides @ (1 << np.arange(self.planes, dtype=np.int64))
        if self.width == self.size:
            return cells.T, np.broadcast_to(vectors, (self.repetitions, *vectors.shape))
        projected = (vectors @ self._projections).reshape(len(vectors), self.repetitions, self.width)
        return cells.T, np.ascontiguousarray(projected.transpose(1, 0, 2))

    def query(self, vectors: FloatArray) -> FloatArray:
        """The encoding of a query: its inner product with an entry's approximates their MaxSim, a mean of cosines."""
        encoding = np.zeros((self.repetitions, self.cells, self.width), np.float32)
        for own, cells, projected in zip(encoding, *self._cut(vectors), strict=True):
            np.add.at(own, cells, projected)
        encoding /= np.float32(self.repetitions * max(1, len(vectors)))
        return encoding.ravel()

    def entries(
        self, vectors: FloatArray, starts: npt.NDArray[np.integer], at_a_time: int = AT_A_TIME
    ) -> FloatArray:
        """The encodings of entries whose vectors are concatenated, entry i from `starts[i]` on; none may be empty."""
        bounds = np.append(np.asarray(starts, np.int64), len(vectors))
        if (np.diff(bounds) < 1).any():
            raise MathAMRError("an entry without vectors cannot be encoded")
        encodings = np.empty((len(starts), self.length), np.float32)
        for begin, end in _pieces(bounds, at_a_time):
            own = vectors[bounds[begin] : bounds[end]].astype(np.float32, copy=False)
            encodings[begin:end] = self._encoded(own, bounds[begin:end] - bounds[begin])
        return encodings

    def _encoded(self, vectors: FloatArray, starts: IntArray) -> FloatArray:
        count = len(starts)
        owners = np.repeat(np.arange(count), np.diff(starts, append=len(vectors)))
        encodings = np.empty((count, self.repetitions, self.cells, self.width), np.float32)
        for repetition, (cells, projected) in enumerate(zip(*self._cut(vectors), strict=True)):
            if not self.planes:
                own = _means(projected, starts)
            else:
                keys = owners * self.cells + cells
                order = np.argsort(keys, kind="stable")
                filled, firsts = np.unique(keys[order], return_index=True)
                own = self._nearest(cells, projected, starts)
                own[filled] = _means(projected[order], firsts)
            encodings[:, repetition] = own.reshape(count, self.cells, self.width)
        return encodings.reshape(count, self.length)

    def _nearest(self, cells: IntArray, projected: FloatArray, starts: IntArray) -> FloatArray:
        """For every entry and cell the first vector whose own cell differs in the fewest planes."""
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


def _pieces(bounds: IntArray, at_a_time: int) -> Iterator[tuple[int, int]]:
    """Splits entries into runs with about as many vectors as are encoded at a time."""
    begin, last = 0, len(bounds) - 1
    while begin < last:
        end = int(np.searchsorted(bounds, bounds[begin] + at_a_time, side="right")) - 1
        end = min(last, max(begin + 1, end))
        yield begin, end
        begin = end
