"""`Scored`: a result of a search in any part of an index; the order of results does not depend on rounding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import NamedTuple, overload
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from mathamr.core.arrays import DoubleArray, IndexArray, IntArray
from mathamr.core.errors import MathAMRError
from mathamr.core.storage.raggedarrays import Strings

DECIMALS = 6
"""Scores that agree to this many decimals count as equal, so that rounding of sums does not decide the order."""


class Scored(NamedTuple):
    """A found entry and its score; only cosines are between -1 and 1."""

    id: str
    score: float


class EntryNames:
    """The ids of the entries in one state of a part of an index, by row; its segments follow each other."""

    def __init__(self, segments: Sequence[Strings]) -> None:
        self._segments = segments
        self._starts = np.cumsum([0, *map(len, segments)])
        self._rows_in: WeakKeyDictionary[EntryNames, IntArray] = WeakKeyDictionary()

    def __len__(self) -> int:
        return int(self._starts[-1])

    @property
    def is_read(self) -> bool:
        """True if all ids are in memory."""
        return all(segment.is_read for segment in self._segments)

    def some(self, rows: IntArray) -> list[str]:
        """Return the ids of rows."""
        if len(self._segments) == 1:
            return self._segments[0].some(rows)
        found = np.empty(len(rows), np.object_)
        owners = np.searchsorted(self._starts, rows, side="right") - 1
        for number, segment in enumerate(self._segments):
            (own,) = np.nonzero(owners == number)
            found[own] = segment.some(rows[own] - self._starts[number])
        return found.tolist()

    @cached_property
    def rows(self) -> dict[str, int]:
        """A row of every id; of an id that was replaced, the last one."""
        return {name: row for row, name in enumerate(self._all())}

    def rows_in(self, others: EntryNames) -> IntArray:
        """Return for each row the row of the same id in `others`, or -1; computed once."""
        if others not in self._rows_in:
            self._rows_in[others] = others.find(self._all())
        return self._rows_in[others]

    def find(self, ids: Iterable[str]) -> IntArray:
        """Return the rows of ids, or -1."""
        return np.array([self.rows.get(each, -1) for each in ids], np.int64)

    def _all(self) -> Iterable[str]:
        return (name for segment in self._segments for name in segment.all())


class ListedNames(EntryNames):
    """Some ids, each once, wherever they are from."""

    def __init__(self, ids: Iterable[str]) -> None:
        super().__init__(())
        self.rows = {name: row for row, name in enumerate(dict.fromkeys(ids))}
        self._ids = list(self.rows)

    def __len__(self) -> int:
        return len(self._ids)

    def some(self, rows: IntArray) -> list[str]:
        """Return the ids of rows."""
        return list(map(self._ids.__getitem__, rows.tolist()))

    def _all(self) -> Iterable[str]:
        return self._ids


class ScoredColumns(Sequence[Scored]):
    """Scored ids as two columns, since of a thousand results that are fused only a dozen are used one by one.

    >>> found = ScoredColumns(["b", "a"], np.array([0.75, 0.5]))
    >>> found[0], found[1:]
    (Scored(id='b', score=0.75), [Scored(id='a', score=0.5)])
    """

    ids: list[str]

    def __init__(self, ids: list[str], scores: DoubleArray) -> None:
        self.ids, self.scores = ids, scores

    @staticmethod
    def of(hits: Sequence[tuple[str, float]]) -> ScoredColumns:
        """Convert any results to columns."""
        if isinstance(hits, ScoredColumns):
            return hits
        return ScoredColumns([each for each, _ in hits], np.array([score for _, score in hits], np.float64))

    def by_id(self) -> dict[str, float]:
        """Return the scores by their ids."""
        return dict(zip(self.ids, self.scores.tolist(), strict=True))

    def find(self, ids: Iterable[str]) -> IntArray:
        """Return the places of ids, or -1."""
        return self._listed.find(ids)

    @cached_property
    def _listed(self) -> ListedNames:
        return ListedNames(self.ids)

    def rows_in(self, names: EntryNames) -> IntArray:
        """Return the row of each entry in `names`, or -1."""
        return names.find(self.ids)

    def with_scores(self, scores: DoubleArray) -> ScoredColumns:
        """Return the same entries in the same order, with other scores."""
        return ScoredColumns(self.ids, scores)

    def take(self, places: IndexArray) -> ScoredColumns:
        """Return the results at some places."""
        return ScoredColumns(list(map(self.ids.__getitem__, places.tolist())), self.scores[places])

    def best(self, k: int | None = None) -> ScoredColumns:
        """Return the best `k` results, or all, best first; equal scores are ordered by id."""
        if k is not None and k < len(self):
            (chosen,) = np.nonzero(self.scores >= np.partition(self.scores, -k)[-k])
            order = chosen[np.argsort(-self.scores[chosen], kind="stable")]
        else:
            order = np.argsort(-self.scores, kind="stable")
        scores = self.scores[order]
        is_tied = scores[1:] == scores[:-1]
        if is_tied.any():
            runs = np.append(0, np.cumsum(~is_tied))
            (tied,) = np.nonzero(np.append(is_tied, False) | np.append(False, is_tied))
            keys = list(zip(runs[tied].tolist(), self.take(order[tied]).ids, strict=True))
            order[tied] = order[tied][sorted(range(len(tied)), key=keys.__getitem__)]
        return self.take(order[:k])

    def __len__(self) -> int:
        return len(self.scores)

    def __iter__(self) -> Iterator[Scored]:
        return map(_scored, zip(self.ids, self.scores.tolist(), strict=True))

    @overload
    def __getitem__(self, place: int) -> Scored: ...

    @overload
    def __getitem__(self, place: slice) -> ScoredColumns: ...

    def __getitem__(self, place: int | slice) -> Scored | ScoredColumns:
        if isinstance(place, slice):
            return self.take(np.arange(len(self))[place])
        return Scored(self.ids[place], float(self.scores[place]))

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


class ScoredRows(ScoredColumns):
    """Scored entries as rows of a part of an index, whose ids are read when they are asked for."""

    def __init__(self, names: EntryNames, rows: IntArray, scores: DoubleArray) -> None:
        self.names, self.rows, self.scores = names, rows, scores

    @cached_property
    def ids(self) -> list[str]:  # type: ignore[override]
        """The ids of the rows."""
        return self.names.some(self.rows)

    def find(self, ids: Iterable[str]) -> IntArray:
        """Return the places of ids, or -1."""
        if not self.names.is_read:
            return super().find(ids)
        places = np.full(len(self.names) + 1, -1)
        places[self.rows] = np.arange(len(self))
        return places[self.names.find(ids)]

    def rows_in(self, names: EntryNames) -> IntArray:
        """Return the row of each entry in `names`, or -1."""
        return self.names.rows_in(names)[self.rows] if self.names.is_read else names.find(self.ids)

    def with_scores(self, scores: DoubleArray) -> ScoredRows:
        """Return the same entries in the same order, with other scores."""
        return ScoredRows(self.names, self.rows, scores)

    def take(self, places: IndexArray) -> ScoredRows:
        """Return the results at some places."""
        return ScoredRows(self.names, self.rows[places], self.scores[places])


_scored: Callable[[tuple[str, float]], Scored] = partial(tuple.__new__, Scored)


def check_k(k: int) -> int:
    """Return the number of results; raise an error if it is not positive."""
    if k < 1:
        raise MathAMRError(f"k must be at least 1, got {k}")
    return k


def best(ids: Sequence[str], scores: npt.ArrayLike, k: int) -> ScoredColumns:
    """Return the k best of scored ids, best first, ties by id.

    >>> best(["b", "a", "c"], [0.5, 0.5, 0.75], 2)
    [Scored(id='c', score=0.75), Scored(id='a', score=0.5)]
    """
    return ScoredColumns(list(ids), rounded(scores)).best(k)


def rounded(scores: npt.ArrayLike) -> DoubleArray:
    """Round scores to `DECIMALS`."""
    return np.round(np.asarray(scores, np.float64), DECIMALS).astype(np.float64, copy=False) + 0.0
