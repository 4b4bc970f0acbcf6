"""The flat engine: memory-mapped vectors, every search exact, nothing needed but numpy.

Written entries are buffered in memory; `flush` writes them as one more segment per kind and then replaces `flat.json`, which
lists the segments: that rename changes all fields atomically. Files that a crash leaves behind are not listed, and the next
writer deletes them. Small segments are merged as they accumulate, so that there are never many.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from mathamr.core.errors import MathAMRError
from mathamr.core.storage.mappedarrays import intact, map_arrays, write_arrays
from mathamr.core.storage.segmentlist import SegmentList, merge_start
from mathamr.core.storage.writerlock import WriterLock
from mathamr.index.engines.engine import Engine, EngineHead, by_kind, read_options
from mathamr.index.engines.flat.entries import FlatEntries, FlatField, StoredSegment
from mathamr.index.engines.flat.options import FlatOptions
from mathamr.index.engines.flat.segment import FlatSegment
from mathamr.systems.field import Field, FieldTarget

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
        """Return the options from names and values."""
        return read_options(FlatOptions, cls.name, options)

    @classmethod
    def open(cls, folder: Path, *, read_only: bool = False, is_new: bool = False) -> Self:  # noqa: ARG003
        """Return the engine in a folder; a new one has no list of segments yet."""
        return cls(folder, read_only=read_only)

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
            if not any(plan.changed for plan in plans.values()):
                return
            written = {
                of: tuple(self._store(self.stores[of], part) for part in plan.parts)
                for of, plan in plans.items()
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
            part.write(self.folder / file, self._options)
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


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """The segments of a kind after a flush: those that stay, and new ones."""

    parts: list[StoredSegment | FlatSegment]
    changed: bool


def _plan(entries: FlatEntries, *, everything: bool) -> _Plan:
    """Decides which segments stay and which are merged with the buffered entries: those that are not much larger."""
    keep, merge = list(entries.stored), []
    waiting = entries.view().waiting
    fresh = 0 if waiting is None else len(waiting)
    size = fresh
    sparse = [one for one in keep if len(one.dead) > _SPARSE * len(one.segment)]
    several = everything and len(keep) + bool(fresh) > 1
    if several or (everything and keep and len(keep[0].dead)):
        keep, merge = [], keep
    else:
        first = merge_start([*(one.living for one in keep), size]) if size else len(keep)
        keep, merge = keep[:first], keep[first:]
        merge += [one for one in sparse if one not in merge]
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
        parts.append(FlatSegment.merged(merged) if merge else merged[0][0])
    changed = bool(fresh or merge or any(len(one.dead) and one.dead_file is None for one in keep))
    return _Plan(parts, changed)


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
