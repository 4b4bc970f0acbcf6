"""Vectors of posts in slots: the layout in which MaxSim over all posts is one multiplication and one maximum a block.

Posts are sorted by how many vectors they have and cut into blocks. A block holds the first vectors of all its posts,
then the second ones, and so on; a post with fewer vectors than the block's widest repeats its last one, which changes
no maximum. The best cosine of every post is then the maximum of whole rows of memory, where post after post takes
a short maximum for each: half the time of `np.maximum.reduceat`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from mathamr.core.arrays import AnyArray, FloatArray, IntArray
from mathamr.index.engines.flat.quantised import Quantised, Stored, cosines, floats

BLOCK = 8192
"""Number of vectors of a block; their similarities with a query fit the CPU cache."""
_SMALL = 1024
"""Smallest number of vectors of a block, since every block costs some microseconds."""
FEWEST_ROWS = 1 << 16
"""The number of vectors of eight bits from which products of whole numbers are faster than loading ONNX Runtime takes."""
_GATHERED = 2048
"""Number of vectors of single posts that are copied together at a time."""
_FEW = 4
"""The number of blocks from which threads share the work."""


@dataclass(frozen=True, eq=False)
class Slots:
    """Blocks of vectors: block b holds the posts ``bounds[b]`` to ``bounds[b+1]``, in as many slots as the last has."""

    vectors: Stored
    counts: IntArray
    bounds: IntArray

    @classmethod
    def arrange(
        cls, vectors: Stored, counts: AnyArray, ranks: IntArray | None = None, block_rows: int = BLOCK
    ) -> tuple[IntArray, Slots]:
        """Build slots from vectors that are concatenated by post; return the order of the posts as well.

        Posts with equal numbers of vectors are ordered by their ranks, if there are any. A block has about `block_rows`
        vectors.
        """
        counts = np.asarray(counts, np.int64)
        starts = np.cumsum(counts) - counts
        order = np.argsort(counts, kind="stable") if ranks is None else np.lexsort((ranks, counts))
        bounds = _bounds(counts[order], block_rows)
        empty = cls(vectors[:0], counts[order], bounds)
        where = np.empty(empty.bases[-1], np.int64)
        for block, begin, end in empty.blocks():
            posts = order[begin:end]
            rows = starts[posts] + np.minimum(np.arange(empty.widths[block])[:, None], counts[posts] - 1)
            where[empty.bases[block] : empty.bases[block + 1]] = rows.ravel()
        return order, cls(vectors[where], counts[order], bounds)

    def __len__(self) -> int:
        return len(self.counts)

    @cached_property
    def widths(self) -> IntArray:
        """The number of slots of each block."""
        return self.counts[self.bounds[1:] - 1]

    @cached_property
    def bases(self) -> IntArray:
        """The first row of each block, and the end."""
        return np.append(0, np.cumsum(self.widths * np.diff(self.bounds)))

    def blocks(self) -> Iterator[tuple[int, int, int]]:
        """Yield (number, first post, end) of each block."""
        bounds = self.bounds.tolist()
        for block in range(len(bounds) - 1):
            yield block, bounds[block], bounds[block + 1]

    def rows(self, posts: IntArray) -> tuple[IntArray, IntArray]:
        """Return the positions of posts: their first rows, and the distance between two rows of a post."""
        blocks = np.searchsorted(self.bounds, posts, side="right") - 1
        return self.bases[blocks] + posts - self.bounds[blocks], np.diff(self.bounds)[blocks]

    def gather(self, posts: IntArray) -> FloatArray:
        """Return the concatenated vectors of posts."""
        firsts, strides = self.rows(posts)
        counts = self.counts[posts]
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        where = np.repeat(firsts, counts) + within * np.repeat(strides, counts)
        return floats(self.vectors[where])

    def scan(self, query: FloatArray) -> FloatArray:
        """Return the MaxSim of every post with a query."""
        scores, bounds = np.empty(len(self), np.float32), self.bounds.tolist()
        best = self._best_of_block(query)

        def scan(first: int, last: int) -> None:
            for block in range(first, last):
                scores[bounds[block] : bounds[block + 1]] = best(block).mean(axis=0)

        if len(self.widths) < _FEW:
            scan(0, len(self.widths))
        else:
            share(scan, len(self.widths))
        return scores

    def best_cosines(self, query: FloatArray) -> FloatArray:
        """Return the best cosine of each row of a query with the vectors of each post."""
        best = self._best_of_block(query)
        blocks = (best(block) for block in range(len(self.widths)))
        return np.concatenate([np.empty((len(query), 0), np.float32), *blocks], axis=1)

    def _best_of_block(self, query: FloatArray) -> Callable[[int], FloatArray]:
        """Return a function from a block to the best cosine of each row of a query with the vectors of each of its posts."""
        bases, widths = self.bases.tolist(), self.widths.tolist()
        vectors = self.vectors
        if isinstance(vectors, Quantised) and len(vectors) >= FEWEST_ROWS:
            similar = vectors.whole_cosines(query)
        else:

            def similar(rows: slice) -> FloatArray:
                return cosines(query, vectors[rows])

        def best(block: int) -> FloatArray:
            found = similar(slice(bases[block], bases[block + 1])).reshape(len(query), widths[block], -1)
            nearest: FloatArray = found.max(axis=1)
            return nearest

        return best

    def score(self, query: FloatArray, posts: IntArray) -> FloatArray:
        """Return the MaxSim of some posts with a query."""
        scores = np.empty(len(posts), np.float32)
        firsts, strides = self.rows(posts)
        counts = self.counts[posts]
        ends = np.cumsum(counts)
        rows = max(_GATHERED, int(counts.max(initial=0)))
        begin = done = 0
        while begin < len(posts):
            end = int(np.searchsorted(ends, done + rows, side="right"))
            own, starts = counts[begin:end], ends[begin:end] - counts[begin:end] - done
            within = np.arange(int(ends[end - 1]) - done) - np.repeat(starts, own)
            where = np.repeat(firsts[begin:end], own) + within * np.repeat(strides[begin:end], own)
            similar = cosines(query, self.vectors[where])
            scores[begin:end] = np.maximum.reduceat(similar, starts, axis=1).mean(axis=0)
            begin, done = end, int(ends[end - 1])
        return scores


def _bounds(counts: IntArray, rows: int) -> IntArray:
    """Cut posts, sorted by their number of vectors, into blocks of about `rows` vectors."""
    bounds = [0]
    while bounds[-1] < len(counts):
        begin, fewest = bounds[-1], int(counts[bounds[-1]])
        # If the numbers of vectors grow quickly, repeated vectors would fill a block: it ends where they would make up
        # a fifth of it, or half of a small block.
        alike, doubled = (int(np.searchsorted(counts, most * fewest, side="right")) for most in (1.25, 2))
        small = min(doubled, begin + _SMALL // fewest)
        # An odd number of posts: slots at a distance of a power of two would evict each other from the cache.
        many = rows // fewest
        bounds.append(max(begin + 1, min(max(alike, small), begin + many - 1 + many % 2)))
    return np.array(bounds, np.int64)


def share(work: Callable[[int, int], None], count: int) -> None:
    """Call ``work(begin, end)`` on parts of `count` things in several threads, and wait for all of them."""
    parts = min(count, 2 * _cores())
    bounds = [count * part // parts for part in range(parts + 1)]
    for _ in _pool(os.getpid()).map(work, bounds[:-1], bounds[1:]):
        pass


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool(process: int) -> ThreadPoolExecutor:  # noqa: ARG001
    """Return the thread pool of this process; a forked process has none of its parent's threads."""
    return ThreadPoolExecutor(_cores(), thread_name_prefix="mathamr-scan")
