"""`FlatEntries`: the entries of one kind in segments; `FlatField`: reads one field of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mathamr.core.arrays import BoolArray, FloatArray, IntArray
from mathamr.index.engines.engine import check_writable
from mathamr.index.engines.entry import (
    Entry,
    Filter,
    Payload,
    ScoredRow,
    best_rows,
    checked,
    unit,
    unit_query,
)
from mathamr.index.engines.flat.fieldrows import FieldRows
from mathamr.index.engines.flat.options import FlatOptions
from mathamr.index.engines.flat.segment import FlatSegment
from mathamr.index.scored import Scored, best, check_k
from mathamr.systems.field import Field, FieldTarget
from mathamr.systems.vectors import Vectors


@dataclass(frozen=True, slots=True, eq=False)
class StoredSegment:
    """A segment on disk and a mask of its deleted entries; immutable, only replaced."""

    file: str
    segment: FlatSegment
    dead: IntArray
    dead_file: str | None

    @property
    def alive(self) -> BoolArray | None:
        """A mask of the entries that are not deleted; `None` means all of them."""
        if not len(self.dead):
            return None
        mask = np.ones(len(self.segment), np.bool_)
        mask[self.dead] = False
        return mask

    @property
    def living(self) -> int:
        """The number of entries that are not deleted."""
        return len(self.segment) - len(self.dead)


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    """The state that a search sees, which stays the same while others write."""

    stored: tuple[StoredSegment, ...]
    waiting: FlatSegment | None

    def parts(self) -> Iterator[tuple[FlatSegment, BoolArray | None]]:
        for stored in self.stored:
            yield stored.segment, stored.alive
        if self.waiting is not None:
            yield self.waiting, None


class FlatEntries:
    """Entries of one kind: segments on disk, and entries buffered in memory."""

    def __init__(
        self,
        of: FieldTarget,
        fields: tuple[Field, ...],
        options: FlatOptions,
        stored: tuple[StoredSegment, ...],
        *,
        writable: bool,
    ) -> None:
        self.of, self.fields, self.options = of, fields, options
        self.writable = writable
        self.stored = stored
        self.waiting: dict[str, Entry] = {}
        self._view: _View | None = None
        self.lock = threading.RLock()

    def upsert(self, entries: Iterable[Entry]) -> None:
        """Add or replace entries."""
        check_writable(self)
        accepted = {entry.id: entry for entry in checked(entries, self.fields)}
        with self.lock:
            self._bury(accepted)
            self.waiting |= accepted
            self._view = None

    def delete(self, ids: Iterable[str]) -> None:
        """Delete entries."""
        check_writable(self)
        gone = list(ids)
        with self.lock:
            self._bury(gone)
            for identifier in gone:
                self.waiting.pop(identifier, None)
            self._view = None

    def _bury(self, ids: Iterable[str]) -> None:
        """Mark entries on disk as deleted; the mark is written with the next flush."""
        ids = list(ids)
        after = []
        for stored in self.stored:
            dead = np.union1d(stored.dead, stored.segment.find(ids))
            changed = len(dead) > len(stored.dead)
            after.append(replace(stored, dead=dead, dead_file=None) if changed else stored)
        self.stored = tuple(after)

    def become(self, stored: tuple[StoredSegment, ...]) -> None:
        """Replace all segments and empty the buffer."""
        self.stored, self.waiting, self._view = stored, {}, None

    def view(self) -> _View:
        """Return the current state."""
        with self.lock:
            if self._view is None:
                waiting = list(self.waiting.values())
                self._view = _View(
                    self.stored,
                    FlatSegment.of(waiting, self.fields, self.options.dtype) if waiting else None,
                )
            return self._view

    def count(self) -> int:
        """Return the number of entries."""
        with self.lock:
            return sum(stored.living for stored in self.stored) + len(self.waiting)

    def ids(self) -> Iterator[str]:
        """Yield the ids of all entries."""
        for segment, alive in self.view().parts():
            ids = segment.ids.all()
            yield from ids if alive is None else (ids[number] for number in np.nonzero(alive)[0])

    def find(self, ids: Iterable[str]) -> Iterator[tuple[FlatSegment, IntArray]]:
        """Yield the segments and places of entries; an id is alive in one segment only."""
        wanted = list(dict.fromkeys(ids))
        for segment, alive in self.view().parts():
            numbers = segment.find(wanted)
            if alive is not None:
                numbers = numbers[alive[numbers]]
            if len(numbers):
                yield segment, numbers

    def payloads(self, ids: Sequence[str]) -> dict[str, Payload]:
        """Return the payloads of entries."""
        return {
            identifier: segment.payloads[number]
            for segment, numbers in self.find(ids)
            for identifier, number in zip(segment.ids.some(numbers), numbers.tolist(), strict=True)
        }


class FlatField:
    """Reads the entries that have vectors in a field; every search is exact. See `FieldReader`."""

    def __init__(self, field: Field, entries: FlatEntries) -> None:
        self.field, self._entries = field, entries

    def _parts(self, where: Filter | None) -> Iterator[tuple[FlatSegment, FieldRows, BoolArray | None]]:
        """Segments, their rows, and a mask of the places that are alive and pass a filter."""
        for segment, alive in self._entries.view().parts():
            rows = segment.fields[self.field.name]
            passing = alive
            if where:
                mask = segment.payloads.mask(where)
                passing = mask if alive is None else mask & alive
            yield segment, rows, None if passing is None else passing[rows.entries]

    def count(self) -> int:
        """Return the number of entries."""
        return sum(
            len(rows) if passing is None else int(passing.sum()) for _, rows, passing in self._parts(None)
        )

    def ids(self) -> Iterator[str]:
        """Yield the ids of all entries."""
        for segment, rows, passing in self._parts(None):
            yield from segment.ids.some(rows.entries if passing is None else rows.entries[passing])

    def _find(self, ids: Sequence[str]) -> Iterator[tuple[list[str], FieldRows, IntArray]]:
        """Yield ids with the rows and places where they are stored."""
        for segment, numbers in self._entries.find(ids):
            rows = segment.fields[self.field.name]
            places = rows.places(numbers)
            if len(places):
                yield segment.ids.some(rows.entries[places]), rows, places

    def fetch(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """Return the rows of entries."""
        return {
            identifier: vectors
            for names, rows, places in self._find(ids)
            for identifier, vectors in zip(names, rows.fetch(places), strict=True)
        }

    def search(
        self,
        vector: FloatArray,
        k: int,
        where: Filter | None = None,
        *,
        exact: bool = True,  # noqa: ARG002
    ) -> Sequence[Scored]:
        """Return the k nearest entries."""
        query = unit(vector, self.field.size, "the query's vector", dimensions=1)
        return self._merge(lambda rows, passing: rows.search(query, check_k(k), passing), k, where)

    def search_maxsim(
        self,
        vectors: FloatArray,
        k: int,
        where: Filter | None = None,
        *,
        exact: bool = True,  # noqa: ARG002
    ) -> Sequence[Scored]:
        """Return the k best entries by MaxSim."""
        query, options = unit_query(vectors, self.field.size), self._entries.options
        return self._merge(
            lambda rows, passing: rows.search_maxsim(query, check_k(k), passing, options.first_pass), k, where
        )

    def skim_maxsim(self, vectors: FloatArray, k: int, where: Filter | None = None) -> Sequence[Scored]:
        """Return the k best entries by MaxSim over the int8 copy, if there are so many entries that this is faster."""
        query, first_pass = unit_query(vectors, self.field.size), self._entries.options.first_pass
        return self._merge(
            lambda rows, passing: rows.skim_maxsim(query, check_k(k), passing, first_pass), k, where
        )

    def search_rows(
        self,
        vectors: FloatArray,
        k: int,
        where: Filter | None = None,
        *,
        exact: bool = True,  # noqa: ARG002
    ) -> list[list[ScoredRow]]:
        """Return for each row of the query the k nearest rows."""
        query = unit_query(vectors, self.field.size)
        found: list[list[ScoredRow]] = [[] for _ in query]
        for segment, rows, passing in self._parts(where):
            for own, (numbers, scores) in zip(
                found, rows.search_rows(query, check_k(k), passing), strict=True
            ):
                places = np.searchsorted(rows.starts, numbers, side="right") - 1
                own += map(
                    ScoredRow,
                    segment.ids.some(rows.entries[places]),
                    (numbers - rows.starts[places]).tolist(),
                    rows.references.some(numbers),
                    scores.tolist(),
                )
        return [best_rows(own, k) for own in found]

    def score(self, vectors: FloatArray, ids: Sequence[str]) -> Sequence[Scored]:
        """Return the exact MaxSim of given entries."""
        query = unit_query(vectors, self.field.size)
        found: list[str] = []
        scores: list[FloatArray] = [np.empty(0, np.float32)]
        for names, rows, places in self._find(ids):
            found += names
            scores.append(rows.score(query, places))
        return best(found, np.concatenate(scores), len(found))

    def _merge(
        self,
        search: Callable[[FieldRows, BoolArray | None], tuple[IntArray, FloatArray]],
        k: int,
        where: Filter | None,
    ) -> Sequence[Scored]:
        """Merge the best results of every segment."""
        ids: list[str] = []
        scores: list[FloatArray] = [np.empty(0, np.float32)]
        for segment, rows, passing in self._parts(where):
            places, found = search(rows, passing)
            ids += segment.ids.some(rows.entries[places])
            scores.append(found)
        return best(ids, np.concatenate(scores), k)
