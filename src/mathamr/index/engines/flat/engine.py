"""The flat engine: memory-mapped vectors, every search exact, nothing needed but numpy.

Written entries are buffered in memory; `flush` writes them as one more segment per kind and then replaces `flat.json`, which
lists the segments: that rename changes all fields atomically. Files that a crash leaves behind are not listed, and the next
writer deletes them. Small segments are merged as they accumulate, so that there are never many.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from mathamr.core.arrays import BoolArray, FloatArray, IntArray
from mathamr.core.errors import MathAMRError
from mathamr.core.storage.mappedarrays import intact, map_arrays, write_arrays
from mathamr.core.storage.segmentlist import SegmentList, merge_start
from mathamr.core.storage.writerlock import WriterLock
from mathamr.index.engines.engine import Engine, EngineHead, by_kind, check_writable, read_options
from mathamr.index.engines.entry import (
    Entry,
    Filter,
    Payload,
    checked,
    unit,
    unit_query,
)
from mathamr.index.engines.flat.fieldrows import FieldRows, FlatOptions
from mathamr.index.engines.flat.quantised import rounded_rows
from mathamr.index.engines.flat.segment import FlatSegment
from mathamr.index.scored import EntryNames, Scored, ScoredRows, best, check_k, rounded
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


@dataclass(frozen=True, eq=False)
class _View:
    """The state that a search sees, which stays the same while others write."""

    stored: tuple[StoredSegment, ...]
    waiting: FlatSegment | None

    def parts(self) -> Iterator[tuple[FlatSegment, BoolArray | None]]:
        for stored in self.stored:
            yield stored.segment, stored.alive
        if self.waiting is not None:
            yield self.waiting, None

    @cached_property
    def names(self) -> EntryNames:
        """The ids of all entries, segment by segment."""
        return EntryNames([segment.ids for segment, _ in self.parts()])


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

    def passing(self, where: Filter) -> Iterator[str]:
        """Yield the ids of the entries that pass a filter."""
        for segment, alive in self.view().parts():
            mask = segment.mask(where)
            yield from segment.ids.some(np.flatnonzero(mask if alive is None else mask & alive))

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

    def _parts(
        self, where: Filter | None, view: _View | None = None
    ) -> Iterator[tuple[FlatSegment, FieldRows, BoolArray | None]]:
        """Yield the segments, their rows, and a mask of the places that are alive and pass a filter."""
        for segment, alive in (view or self._entries.view()).parts():
            rows = segment.fields[self.field.name]
            passing = alive
            if where:
                mask = segment.mask(where)
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
        return self._merge(
            lambda rows, passing: rows.search_maxsim(query[None], check_k(k), passing), k, where
        )

    def search_maxsim(
        self,
        vectors: FloatArray,
        k: int,
        where: Filter | None = None,
        *,
        exact: bool = True,  # noqa: ARG002
    ) -> Sequence[Scored]:
        """Return the k best entries by MaxSim."""
        query = unit_query(vectors, self.field.size)
        return self._merge(lambda rows, passing: rows.search_maxsim(query, check_k(k), passing), k, where)

    def search_rows(self, vectors: FloatArray, k: int, where: Filter | None = None) -> list[Sequence[Scored]]:
        """Return for each row of the query the entries of the k nearest rows."""
        query = unit_query(vectors, self.field.size)
        parts = [
            (segment, rows, rows.search_rows(query, check_k(k), passing))
            for segment, rows, passing in self._parts(where)
        ]
        found: list[Sequence[Scored]] = []
        for number in range(len(query)):
            own = [
                (segment.ids.some(rows.entries[each[number][0]]), each[number][1])
                for segment, rows, each in parts
            ]
            ids = [identifier for names, _ in own for identifier in names]
            found.append(
                best(ids, np.concatenate([np.empty(0, np.float32), *(scores for _, scores in own)]), k)
            )
        return found

    def score(self, vectors: FloatArray, ids: Sequence[str]) -> Sequence[Scored]:
        """Return the exact MaxSim of given entries."""
        query = unit_query(vectors, self.field.size)
        found: list[str] = []
        scores: list[FloatArray] = [np.empty(0, np.float32)]
        for names, rows, places in self._find(ids):
            found += names
            scores.append(rows.score(query, places))
        return best(found, np.concatenate(scores), len(found))

    def as_compared(self, vectors: FloatArray) -> FloatArray:
        """Return the rows of a query with the precision in which the field compares them."""
        return rounded_rows(vectors) if self.field.many and self._entries.options.dtype == "int8" else vectors

    def _merge(
        self,
        search: Callable[[FieldRows, BoolArray | None], tuple[IntArray, FloatArray]],
        k: int,
        where: Filter | None,
    ) -> Sequence[Scored]:
        """Merge the best results of every segment, best first."""
        numbers: list[IntArray] = [np.empty(0, np.int64)]
        scores: list[FloatArray] = [np.empty(0, np.float32)]
        view, start = self._entries.view(), 0
        for segment, rows, passing in self._parts(where, view):
            places, found = search(rows, passing)
            numbers.append(rows.entries[places].astype(np.int64) + start)
            scores.append(found)
            start += len(segment)
        merged = ScoredRows(view.names, np.concatenate(numbers), rounded(np.concatenate(scores)))
        return merged.best(k)


_LIST = "flat.json"
_SEGMENT, _DEAD = ".safetensors", ".dead"
_SPARSE = 0.25
"""A segment is rewritten if more than this share of its entries is deleted."""

Stored = tuple[StoredSegment, ...]


class FlatEngine(Engine):
    """Entries in flat files; see `Engine`."""

    name: ClassVar[str] = "flat"
    stores: Mapping[FieldTarget, FlatEntries]

    def __init__(self, folder: Path, *, read_only: bool) -> None:
        head = EngineHead.read(folder, self.name)
        self._options = read_options(FlatOptions, self.name, head.options)
        self._lock = None if read_only else WriterLock(folder, "flat engine")
        try:
            self._list = SegmentList(folder, _LIST, (_SEGMENT, _DEAD))
            self._number, lists = _read_list(self._list, head.fields)
            stores = {
                of: FlatEntries(of, own, self._options, lists[of], writable=not read_only)
                for of, own in by_kind(head.fields).items()
            }
            readers = {each.name: FlatField(each, stores[each.of]) for each in head.fields}
            super().__init__(folder, head.fields, stores, readers)
            if not read_only:
                self._list.remove_unlisted()
        except BaseException:
            if self._lock is not None:
                self._lock.release()
            raise

    @classmethod
    def choose_options(cls, options: Mapping[str, Any] | None) -> FlatOptions:
        """Return the options from names and values; `first_pass` of earlier releases is passed over."""
        named = {name: value for name, value in (options or {}).items() if name != "first_pass"}
        return read_options(FlatOptions, cls.name, named)

    @classmethod
    def open(cls, folder: Path, *, read_only: bool = False, is_new: bool = False) -> Self:  # noqa: ARG003
        """Return the engine in a folder; a new one has no list of segments yet."""
        return cls(folder, read_only=read_only)

    def passing(self, of: FieldTarget, where: Filter) -> Iterator[str]:
        """Yield the ids of the entries that pass a filter, by the columns of their payloads."""
        return iter(self.stores[of].passing(where) if of in self.stores else ())

    def _stored(self) -> Iterator[StoredSegment]:
        for entries in self.stores.values():
            yield from entries.stored

    def flush(self) -> None:
        """Write buffered entries as new segments, then the list; once it returns, a crash loses nothing."""
        self._write(everything=False)

    def optimize(self) -> None:
        """Merge all segments of a kind into one."""
        self._write(everything=True)

    def _write(self, *, everything: bool) -> None:
        if self._lock is None:
            return
        with ExitStack() as locks:
            for entries in self.stores.values():
                locks.enter_context(entries.lock)
            plans = {of: _plan(entries, everything=everything) for of, entries in self.stores.items()}
            if not any(changed for _, changed in plans.values()):
                return
            written = {
                of: tuple(self._store(self.stores[of], part) for part in parts)
                for of, (parts, _) in plans.items()
            }
            self._number += 1
            rows: dict[str, Any] = {"number": self._number}
            for of, stored in written.items():
                rows[of] = [{"file": one.file, "dead": one.dead_file} for one in stored]
            self._list.replace(rows)
            for of, stored in written.items():
                self.stores[of].become(stored)
        self._list.remove_unlisted()

    def _store(self, entries: FlatEntries, part: StoredSegment | FlatSegment) -> StoredSegment:
        """Write a part of a plan to disk."""
        if isinstance(part, FlatSegment):
            file = self._name(entries, _SEGMENT)
            part.write(self.folder / file)
            segment = FlatSegment.read(self.folder / file, entries.fields)
            return StoredSegment(file, segment, np.zeros(0, np.int64), None)
        if len(part.dead) and part.dead_file is None:
            file = self._name(entries, _DEAD)
            write_arrays(self.folder / file, {"dead": part.dead})
            return replace(part, dead_file=file)
        return part

    def _name(self, entries: FlatEntries, suffix: str) -> str:
        self._number += 1
        return f"{entries.of}-{self._number:08d}{suffix}"

    def verify(self) -> list[str]:
        """Return messages about files whose content does not match their checksum."""
        names = [name for stored in self._stored() for name in (stored.file, stored.dead_file) if name]
        return [f"{name} is damaged" for name in names if not intact(self.folder / name)]

    def close(self) -> None:
        """Flush and release the lock."""
        if self._lock is not None:
            try:
                self.flush()
            finally:
                self._lock.release()
                self._lock = None


def _plan(entries: FlatEntries, *, everything: bool) -> tuple[list[StoredSegment | FlatSegment], bool]:
    """Return the segments of a kind after a flush, those that stay and new ones, and whether anything changes.

    Segments that are not much larger are merged with the buffered entries, and those whose vectors are numbers of another type.
    """
    keep, merge = list(entries.stored), []
    waiting = entries.view().waiting
    fresh = 0 if waiting is None else len(waiting)
    size = fresh
    dtype = entries.options.dtype
    worn = [one for one in keep if len(one.dead) > _SPARSE * len(one.segment) or not one.segment.has(dtype)]
    several = everything and len(keep) + bool(fresh) > 1
    if several or (everything and keep and len(keep[0].dead)):
        keep, merge = [], keep
    else:
        first = merge_start([*(one.living for one in keep), size]) if size else len(keep)
        keep, merge = keep[:first], keep[first:]
        merge += [one for one in worn if one not in merge]
        keep = [one for one in keep if one not in merge]
    parts: list[StoredSegment | FlatSegment] = list(keep)
    # The oldest first, so that the order of entries depends on when they were added, not on the number of flushes.
    merge.sort(key=entries.stored.index)
    merged = [
        (one.segment, np.nonzero(one.alive)[0] if one.alive is not None else np.arange(len(one.segment)))
        for one in merge
    ]
    merged = [(segment, numbers) for segment, numbers in merged if len(numbers)]
    if waiting is not None:
        merged.append((waiting, np.arange(len(waiting))))
    if merged:
        parts.append(FlatSegment.merged(merged, dtype) if merge else merged[0][0])
    changed = bool(fresh or merge or any(len(one.dead) and one.dead_file is None for one in keep))
    return parts, changed


def _read_list(listing: SegmentList, fields: Sequence[Field]) -> tuple[int, dict[FieldTarget, Stored]]:
    """Return the segments of every kind; a new engine has none."""
    kinds = by_kind(fields)
    if not listing.exists():
        return 0, dict.fromkeys(kinds, ())

    def opened(head: dict[str, Any]) -> tuple[int, dict[FieldTarget, Stored]]:
        lists = {of: tuple(_open(listing, entry, own) for entry in head[of]) for of, own in kinds.items()}
        return int(head["number"]), lists

    return listing.read(opened)


def _open(listing: SegmentList, entry: dict[str, str | None], fields: Sequence[Field]) -> StoredSegment:
    path, dead = listing.path(entry["file"]), np.zeros(0, np.int64)
    if entry["dead"] is not None:
        dead = np.array(map_arrays(listing.path(entry["dead"]))["dead"], np.int64)
    segment = FlatSegment.read(path, fields)
    if len(dead) and not (dead[0] >= 0 and dead[-1] < len(segment)):
        raise MathAMRError(f"{listing.folder / str(entry['dead'])} is damaged; build the index again")
    return StoredSegment(path.name, segment, dead, entry["dead"])
