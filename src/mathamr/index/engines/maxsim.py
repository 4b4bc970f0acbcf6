"""Exact MaxSim of one query with many posts, by blocks that fit the processor's cache (thesis, equations 3.4 and 3.7)."""

from __future__ import annotations

import numpy as np

from mathamr.core.arrays import AnyArray, FloatArray

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
