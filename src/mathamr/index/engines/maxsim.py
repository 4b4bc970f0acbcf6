"""Products of a query with many vectors, and the best of many scores: what MaxSim (thesis, equations 3.4 and 3.7) is made of."""

from __future__ import annotations

import numpy as np

from mathamr.core.arrays import FloatArray, IntArray
from mathamr.index.scored import DECIMALS

PIECE = 1 << 17
"""Number of multiplications per BLAS call: so few that BLAS does not share them among threads."""


def mutual_maxsim(query: FloatArray, rows: FloatArray) -> float:
    """Return the harmonic mean of MaxSim from the query to the rows and back; 0 if either is not above 0.

    >>> query = np.eye(2, dtype=np.float32)
    >>> mutual_maxsim(query, query), round(mutual_maxsim(query, query[:1]), 3)
    (1.0, 0.667)
    """
    similar = query @ rows.T
    there, back = float(similar.max(axis=1).mean()), float(similar.max(axis=0).mean())
    return 2 * there * back / (there + back) if there > 0 and back > 0 else 0.0


def similarities(query: FloatArray, vectors: FloatArray) -> FloatArray:
    """Return the cosines of a query's rows with vectors, a row of the result for each row of the query.

    They are multiplied in pieces that one thread multiplies: BLAS shares a multiplication of this shape, long and thin, among
    threads that wait for each other in a loop. On a busy machine that takes twenty times as long, on an idle one it gains next to nothing.
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
