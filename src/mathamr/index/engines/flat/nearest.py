"""Selects the best of many scores, including ties with the last one, so that ties can be ordered afterwards."""

from __future__ import annotations

import numpy as np

from mathamr.core.arrays import FloatArray, IntArray
from mathamr.index.scored import DECIMALS

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
