"""`Scored`: a result of a search in any part of an index; the order of results does not depend on rounding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple, overload

import numpy as np
import numpy.typing as npt

from mathamr.core.arrays import DoubleArray
from mathamr.core.errors import MathAMRError

DECIMALS = 6
"""Scores that agree to this many decimals count as equal, so that rounding of sums does not decide the order."""


class Scored(NamedTuple):
    """A found entry and its score from -1 to 1."""

    id: str
    score: float


class ScoredColumns(Sequence[Scored]):
    """Scored ids as two columns, since of a thousand results that are fused only a dozen are used one by one.

    >>> found = ScoredColumns(["b", "a"], np.array([0.75, 0.5]))
    >>> found[0], found[1:]
    (Scored(id='b', score=0.75), [Scored(id='a', score=0.5)])
    """

    __slots__ = ("ids", "scores")

    def __init__(self, ids: list[str], scores: DoubleArray) -> None:
        self.ids, self.scores = ids, scores

    @classmethod
    def of(cls, hits: Sequence[tuple[str, float]]) -> ScoredColumns:
        """Convert any results to columns."""
        if isinstance(hits, ScoredColumns):
            return hits
        return cls([each for each, _ in hits], np.array([score for _, score in hits], np.float64))

    def by_id(self) -> dict[str, float]:
        """Return the scores by their ids."""
        return dict(zip(self.ids, self.scores.tolist(), strict=True))

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Scored]:
        return map(_scored, zip(self.ids, self.scores.tolist(), strict=True))

    @overload
    def __getitem__(self, place: int) -> Scored: ...

    @overload
    def __getitem__(self, place: slice) -> ScoredColumns: ...

    def __getitem__(self, place: int | slice) -> Scored | ScoredColumns:
        if isinstance(place, slice):
            return ScoredColumns(self.ids[place], self.scores[place])
        return Scored(self.ids[place], float(self.scores[place]))

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


_scored: Callable[[tuple[str, float]], Scored] = partial(tuple.__new__, Scored)


def check_k(k: int) -> int:
    """Return the number of results if it is positive, else raises."""
    if k < 1:
        raise MathAMRError(f"the number of results must be at least 1, got {k}")
    return k


def best(ids: Sequence[str], scores: npt.ArrayLike, k: int) -> ScoredColumns:
    """Return the k best of scored ids, best first, ties by id.

    >>> best(["b", "a", "c"], [0.5, 0.5, 0.75], 2)
    [Scored(id='c', score=0.75), Scored(id='a', score=0.5)]
    """
    rounded = np.round(np.asarray(scores, np.float64), DECIMALS).astype(np.float64) + 0.0
    order = np.argsort(-rounded, kind="stable")
    ranked = rounded[order]
    names = list(map(ids.__getitem__, order.tolist()))
    sort_ties(names, ranked, k)
    return ScoredColumns(names[:k], ranked[:k])


def sort_ties(names: list[str], scores: DoubleArray, k: int) -> None:
    """Sort the ids of equal scores among the first k; `scores` stand best first."""
    if not len(names):
        return
    ends = np.flatnonzero(np.append(scores[1:] != scores[:-1], True)) + 1
    starts = np.append(0, ends[:-1])
    tied = (ends - starts > 1) & (starts < k)
    for start, end in zip(starts[tied].tolist(), ends[tied].tolist(), strict=True):
        names[start:end] = sorted(names[start:end])
