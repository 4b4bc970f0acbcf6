"""Exact MaxSim of one query with many posts, by blocks that fit the processor's cache (thesis, equations 3.4 and 3.7)."""

from __future__ import annotations

import numpy as np

from mathamr.core.arrays import AnyArray, FloatArray, IntArray
from mathamr.index.scored import DECIMALS

BLOCK = 2048
"""Number of vectors that are multiplied at a time; their similarities with a query fit the CPU cache."""
PIECE = 1 << 17
"""Number of multiplications per BLAS call: so few that BLAS does not share them among threads."""
LOWEST = -1.0
"""The score of a post without vectors for every vector of a query: the lowest cosine."""


def maxsim(query: FloatArray, vectors: FloatArray, starts: AnyArray, block: int = BLOCK) -> FloatArray:
    """Return the mean over the query's rows of the best cosine in each post.

    The rows of `vectors` stand post by post, post i from row `starts[i]` to the start of the next one; all rows are
    of length one. About `block` rows are compared at a time.

    >>> query = np.eye(2, dtype=np.float32)
    >>> posts = np.array([[1, 0], [0, 1], [1, 0]], np.float32)
    >>> maxsim(query, posts, np.array([0, 2])).tolist()
    [1.0, 0.5]
    """
    posts = len(starts)
    scores = np.full(posts, LOWEST, np.float32)
    ends = np.append(starts[1:], len(vectors)).astype(np.int64) if posts else np.empty(0, np.int64)
    (filled,) = np.nonzero(ends > starts)
    if not len(query) or not len(filled):
        return scores
    firsts, lasts = starts[filled].astype(np.int64), ends[filled]
    columns = np.ascontiguousarray(query.T)
    begin = 0
    while begin < len(filled):
        row = firsts[begin]
        end = max(begin + 1, int(np.searchsorted(lasts, row + block, side="right")))
        similarities = products(vectors[row : lasts[end - 1]], columns)
        best = np.maximum.reduceat(similarities, firsts[begin:end] - row, axis=0)
        scores[filled[begin:end]] = best.mean(axis=1)
        begin = end
    return scores


def mutual_maxsim(query: FloatArray, rows: FloatArray) -> float:
    """Return the harmonic mean of MaxSim from the query to the rows and back; 0 if either is not above 0.

    >>> query = np.eye(2, dtype=np.float32)
    >>> mutual_maxsim(query, query), round(mutual_maxsim(query, query[:1]), 3)
    (1.0, 0.667)
    """
    similar = query @ rows.T
    there, back = float(similar.max(axis=1).mean()), float(similar.max(axis=0).mean())
    return 2 * there * back / (there + back) if there > 0 and back > 0 else 0.0


def products(vectors: FloatArray, columns: FloatArray) -> FloatArray:
    """``vectors @ columns``, in pieces that one thread multiplies.

    BLAS shares a multiplication of this shape, long and thin, among threads that wait for each other in a loop: on a
    busy machine that takes twenty times as long, on an idle one it gains next to nothing.
    """
    (count, size), width = vectors.shape, columns.shape[1]
    rows = max(16, PIECE // (size * width))
    even = count - count % rows
    out = np.empty((count, width), np.float32)
    np.matmul(vectors[:even].reshape(-1, rows, size), columns, out=out[:even].reshape(-1, rows, width))
    np.matmul(vectors[even:], columns, out=out[even:])
    return out


def similarities(query: FloatArray, vectors: FloatArray) -> FloatArray:
    """Return the cosines of a query's rows with vectors, a row of the result for each row of the query.

    The same as `products` with its axes turned: BLAS multiplies few long rows in little more than half the time that it
    takes for many short ones.
    """
    rows = max(16, 2 * PIECE // max(1, query.size))
    if len(vectors) <= rows:
        return query @ vectors.T
    out = np.empty((len(query), len(vectors)), np.float32)
    for start in range(0, len(vectors), rows):
        np.matmul(query, vectors[start : start + rows].T, out=out[:, start : start + rows])
    return out


TIE = np.float32(1.5 * 10.0**-DECIMALS)
"""Scores nearer than this may be equal once they are rounded."""
_SAMPLED, _EVERY, _MARGIN = 16, 32, 32
"""Parameters of the sample that estimates a threshold: from which ratio of scores to results it is used, its step, and its margin."""
_SHRUNK_FROM = 4096
"""Number of candidates beyond the requested k that are collected before the worst are dropped."""


def top(rows: IntArray, scores: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
    """Return the k best, and those that tie with the last of them."""
    if len(scores) <= k:
        return rows, scores
    least = np.partition(scores, -k)[-k] - TIE
    (chosen,) = np.nonzero(scores >= least)
    return rows[chosen], scores[chosen]


def best(scores: FloatArray, k: int) -> IntArray:
    """Return the places of the k best; with many scores, a sample gives a threshold below which scores are skipped."""
    if len(scores) > _SAMPLED * k:
        sample = scores[::_EVERY]
        wanted = min(len(sample), 2 * k // _EVERY + _MARGIN)
        (above,) = np.nonzero(scores >= np.partition(sample, -wanted)[-wanted])
        if len(above) >= k:
            return above[np.argpartition(scores[above], -k)[-k:]]
    return np.argpartition(scores, -k)[-k:]


class BestRows:
    """Collects the k best rows for each row of a query from batches of cosines, which together would fill the memory."""

    def __init__(self, query_rows: int, k: int) -> None:
        self._k = k
        self._rows = [np.empty(0, np.int64) for _ in range(query_rows)]
        self._scores = [np.empty(0, np.float32) for _ in range(query_rows)]
        self._floors = np.full(query_rows, -np.inf, np.float32)

    def add(self, rows: IntArray, cosines: FloatArray) -> None:
        """Add some rows: their numbers, and a column of cosines for each row of the query."""
        reaching = cosines >= self._floors
        for number in np.flatnonzero(reaching.any(axis=0)).tolist():
            chosen = reaching[:, number]
            self._rows[number] = np.concatenate([self._rows[number], rows[chosen]])
            self._scores[number] = np.concatenate([self._scores[number], cosines[chosen, number]])
            if len(self._rows[number]) > self._k + _SHRUNK_FROM:
                self._shrink(number)

    def found(self) -> list[tuple[IntArray, FloatArray]]:
        """Return the numbers and cosines of the best rows, for each row of the query."""
        for number in range(len(self._rows)):
            self._shrink(number)
        return list(zip(self._rows, self._scores, strict=True))

    def _shrink(self, number: int) -> None:
        if len(self._rows[number]) > self._k:
            rows, scores = top(self._rows[number], self._scores[number], self._k)
            self._rows[number], self._scores[number] = rows, scores
            self._floors[number] = scores.min()
