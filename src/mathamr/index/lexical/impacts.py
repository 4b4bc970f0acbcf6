"""`Impacts`: a cache of what a term adds to every entry that has it, for terms that recur in queries.

Most of the postings that a query reads belong to words that most queries have. Their impacts depend only on the state of the
index, so they are computed once per state and weighted by each query.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from mathamr.core.arrays import DoubleArray, IndexArray, IntArray
from mathamr.core.cache import Cache
from mathamr.index.lexical.segments import Segments

MOST = 1 << 20
"""Size of the cache of one state in postings: 16 MB."""

Key = tuple[str, int, float, float]


class Impact(NamedTuple):
    """The rows of the entries that have a term, counted over all segments, and its unweighted contribution to each."""

    rows: IndexArray
    shares: DoubleArray
    """f / (f + k1 · (1 - b + b · length / average length)), if it occurs f times."""
    living: int
    """The number of entries that are not deleted."""


class Impacts:
    """The impacts of terms in one state of an index; safe from several threads."""

    def __init__(self, state: Segments, most: int = MOST) -> None:
        self.state = state
        self._known: Cache[Key, Impact] = Cache(weight=most, weigh=lambda _, impact: len(impact.rows) + 1)

    def of(self, field: str, terms: Sequence[int], k1: float, b: float) -> list[Impact]:
        """The impacts of terms, given as distinct numbers."""
        keys = [(field, term, k1, b) for term in terms]
        found = {key: impact for key in keys if (impact := self._known.get(key)) is not None}
        if missing := [key for key in keys if key not in found]:
            numbers = np.array([term for _, term, _, _ in missing], np.int64)
            computed = dict(zip(missing, self._computed(field, numbers, k1, b), strict=True))
            found |= computed
            for key, impact in computed.items():
                self._known.put(key, impact)
        return [found[key] for key in keys]

    def _computed(self, field: str, terms: IntArray, k1: float, b: float) -> list[Impact]:
        state = self.state
        scale = k1 * b / max(state.averages[field], 1e-9)
        parts: list[list[tuple[IndexArray, DoubleArray]]] = [[] for _ in range(len(terms))]
        living, first = np.zeros(len(terms), np.int64), 0
        for (segment, alive), is_complete in zip(state.parts, state.is_complete, strict=True):
            held = segment.postings(field, terms)
            if is_complete:
                living[held.found] += held.sizes
            else:
                living += np.bincount(held.terms[alive[held.rows]], minlength=len(terms))
            often = held.counts.astype(np.float64)
            shares = (k1 * (1 - b) + scale * segment.lengths(field)).take(held.rows)
            shares += often
            np.divide(often, shares, out=shares)
            rows = held.rows.astype(np.intp)
            rows += first
            bounds = pairwise([0, *np.cumsum(held.sizes).tolist()])
            for term, (begin, end) in zip(held.found.tolist(), bounds, strict=True):
                parts[term].append((rows[begin:end], shares[begin:end]))
            first += len(segment)
        return [Impact(*_joined(own), count) for own, count in zip(parts, living.tolist(), strict=True)]


def _joined(parts: Sequence[tuple[IndexArray, DoubleArray]]) -> tuple[IndexArray, DoubleArray]:
    """Concatenates slices; the copy does not keep the arrays that they come from in memory."""
    if not parts:
        return np.empty(0, np.intp), np.empty(0)
    rows, shares = zip(*parts, strict=True)
    return np.concatenate(rows), np.concatenate(shares)
