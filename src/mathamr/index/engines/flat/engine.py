"""The flat engine: memory-mapped vectors, every search exact, nothing needed but numpy.

Points that are written wait in memory; `flush` writes them as one more segment and then replaces `flat.json`, which
lists the segments: that one rename is the moment in which both collections change. Whatever a crash leaves behind is
not listed and is swept away by the next writer. Small segments are merged as they come, so that there are never many.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from mathamr.errors import MathAMRError
from mathamr.index.engines.engine import Capabilities, EngineHead, read_options
from mathamr.index.engines.flat.columns import Mask, Rows
from mathamr.index.engines.flat.segment import Segment
from mathamr.index.engines.point import Filter, Floats, Payload, Point, Scored, best, check_k, checked, unit
from mathamr.index.storage.arrays import intact, map_arrays, write_arrays
from mathamr.index.storage.durable import write_whole
from mathamr.index.storage.lock import WriterLock

_LIST = "flat.json"
_SEGMENT, _DEAD = ".safetensors", ".dead"
_SPARSE = 0.25
"""A segment with more deleted points than this part is written anew."""


@dataclass(frozen=True, slots=True)
class FlatOptions:
    """How the flat engine keeps and scans vectors."""

    dtype: str = "float32"
    """`float32`, or `float16` for half the disk and memory, with scores off by up to 0.001."""
    first_pass: str = "auto"
    """`int8`: whole numbers find the candidates; `none`: every vector is read; `auto`: whichever is faster here."""

    def __post_init__(self) -> None:
        for name, known in (("dtype", ("float32", "float16")), ("first_pass", ("auto", "int8", "none"))):
            if getattr(self, name) not in known:
                raise MathAMRError(
                    f"the flat engine's {name} is {' or '.join(known)}, not {getattr(self, name)!r}"
                )


@dataclass(frozen=True, slots=True, eq=False)
class _Stored:
    """A segment on disk and which of its points are deleted; never changed, only replaced."""

    file: str
    segment: Segment
    dead: Rows
    dead_file: str | None

    @property
    def alive(self) -> Mask | None:
        if not len(self.dead):
            return None
        mask = np.ones(len(self.segment), np.bool_)
        mask[self.dead] = False
        return mask

    @property
    def living(self) -> int:
        return len(self.segment) - len(self.dead)


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    """What a search sees: it stays the same while others write."""

    stored: tuple[_Stored, ...]
    waiting: Segment | None

    def parts(self) -> Iterator[tuple[Segment, Mask | None]]:
        for stored in self.stored:
            yield stored.segment, stored.alive
        if self.waiting is not None:
            yield self.waiting, None


class FlatCollection:
    """Points in segments; see `Collection`."""

    def __init__(
        self, name: str, size: int, options: FlatOptions, stored: tuple[_Stored, ...], *, writable: bool
    ) -> None:
        self.name, self.size = name, size
        self.multiple = name == "posts"
        self._options, self._writable = options, writable
        self.stored = stored
        self.waiting: dict[str, Point] = {}
        self._view: _View | None = None
        self._lock = threading.RLock()

    def upsert(self, points: Iterable[Point]) -> None:
        """Adds or replaces points."""
        self._check_writable()
        accepted = {point.id: point for point in checked(points, self.size, multiple=self.multiple)}
        with self._lock:
            self._bury(accepted)
            self.waiting |= accepted
            self._view = None

    def delete(self, ids: Iterable[str]) -> None:
        """Forgets points."""
        self._check_writable()
        gone = list(ids)
        with self._lock:
            self._bury(gone)
            for identifier in gone:
                self.waiting.pop(identifier, None)
            self._view = None

    def _bury(self, ids: Iterable[str]) -> None:
        """Marks points on disk as deleted; the mark is written with the next flush."""
        ids = list(ids)
        after = []
        for stored in self.stored:
            dead = np.union1d(stored.dead, stored.segment.find(ids))
            changed = len(dead) > len(stored.dead)
            after.append(replace(stored, dead=dead, dead_file=None) if changed else stored)
        self.stored = tuple(after)

    def _check_writable(self) -> None:
        if not self._writable:
            raise MathAMRError("the engine was opened for reading only")

    def view(self) -> _View:
        """What there is now."""
        with self._lock:
            if self._view is None:
                waiting = list(self.waiting.values())
                self._view = _View(
                    self.stored,
                    Segment.of(waiting, self.size, self._options.dtype, multiple=self.multiple)
                    if waiting
                    else None,
                )
            return self._view

    def count(self) -> int:
        """How many points there are."""
        with self._lock:
            return sum(stored.living for stored in self.stored) + len(self.waiting)

    def ids(self) -> Iterator[str]:
        """The ids of all points."""
        for segment, alive in self.view().parts():
            ids = segment.ids.all()
            yield from ids if alive is None else (ids[row] for row in np.nonzero(alive)[0])

    def _find(self, ids: Iterable[str]) -> Iterator[tuple[Segment, Rows]]:
        """Where points are: an id is alive in one segment only."""
        wanted = list(dict.fromkeys(ids))
        for segment, alive in self.view().parts():
            rows = segment.find(wanted)
            if alive is not None:
                rows = rows[alive[rows]]
            if len(rows):
                yield segment, rows

    def fetch(self, ids: Sequence[str]) -> dict[str, Floats]:
        """The vectors of points."""
        return {
            identifier: vectors
            for segment, rows in self._find(ids)
            for identifier, vectors in zip(segment.ids.some(rows), segment.vectors(rows), strict=True)
        }

    def payloads(self, ids: Sequence[str]) -> dict[str, Payload]:
        """What is known about points."""
        return {
            identifier: segment.payloads[row]
            for segment, rows in self._find(ids)
            for identifier, row in zip(segment.ids.some(rows), rows.tolist(), strict=True)
        }

    def search(self, vector: Floats, k: int, where: Filter | None = None, exact: bool = True) -> list[Scored]:
        """The k nearest points; always exact."""
        query = unit(vector, self.size, "the query's vector", dimensions=1)
        return self._merge(lambda segment, passing: segment.search(query, check_k(k), passing), k, where)

    def search_maxsim(
        self, vectors: Floats, k: int, where: Filter | None = None, exact: bool = True
    ) -> list[Scored]:
        """The k best posts by MaxSim; always exact."""
        query = self._query(vectors)
        return self._merge(
            lambda segment, passing: segment.search_maxsim(
                query, check_k(k), passing, self._options.first_pass
            ),
            k,
            where,
        )

    def score(self, vectors: Floats, ids: Sequence[str]) -> list[Scored]:
        """The exact MaxSim of given posts."""
        query = self._query(vectors)
        found: list[str] = []
        scores: list[Floats] = [np.empty(0, np.float32)]
        for segment, rows in self._find(ids):
            found += segment.ids.some(rows)
            scores.append(segment.score(query, rows))
        return best(found, np.concatenate(scores), len(found))

    def _query(self, vectors: Floats) -> Floats:
        query = unit(vectors, self.size, "the query's vectors", dimensions=2)
        if not len(query):
            raise MathAMRError("the query has no vectors")
        return query

    def _merge(
        self, search: Callable[[Segment, Mask | None], tuple[Rows, Floats]], k: int, where: Filter | None
    ) -> list[Scored]:
        """The best of every segment, together."""
        ids: list[str] = []
        scores: list[Floats] = [np.empty(0, np.float32)]
        for segment, alive in self.view().parts():
            passing = alive
            if where:
                mask = segment.payloads.mask(where)
                passing = mask if alive is None else mask & alive
            rows, found = search(segment, passing)
            ids += segment.ids.some(rows)
            scores.append(found)
        return best(ids, np.concatenate(scores), k)


class FlatEngine:
    """Two flat collections in a folder; see `Engine`."""

    name: ClassVar[str] = "flat"
    capabilities: ClassVar[Capabilities] = Capabilities(approximate=False, concurrent=True, remote=False)

    def __init__(self, folder: Path, *, read_only: bool) -> None:
        head = EngineHead.read(folder, self.name)
        self.folder, self.size = folder, head.size
        self._options = read_options(FlatOptions, self.name, head.options)
        self._lock = None if read_only else WriterLock(folder, "flat engine")
        try:
            self._number, lists = self._read_list(folder)
            writable = not read_only
            self.posts = FlatCollection("posts", self.size, self._options, lists["posts"], writable=writable)
            self.formulas = FlatCollection(
                "formulas", self.size, self._options, lists["formulas"], writable=writable
            )
            if not read_only:
                self._sweep()
        except BaseException:
            if self._lock is not None:
                self._lock.release()
            raise

    @classmethod
    def create(cls, folder: Path, size: int, options: Mapping[str, Any] | None = None) -> FlatEngine:
        """A new, empty engine."""
        EngineHead(cls.name, size, asdict(read_options(FlatOptions, cls.name, options))).write(folder)
        return cls(folder, read_only=False)

    @classmethod
    def open(cls, folder: Path, *, read_only: bool = False) -> FlatEngine:
        """The engine in a folder; several may read it while one writes."""
        return cls(folder, read_only=read_only)

    @staticmethod
    def _read_list(folder: Path, attempts: int = 20) -> tuple[int, dict[str, tuple[_Stored, ...]]]:
        """The segments of both collections; a writer may replace them while they are opened, so it tries again."""
        path = folder / _LIST
        lists: dict[str, tuple[_Stored, ...]] = {"posts": (), "formulas": ()}
        try:
            if not path.exists():
                return 0, lists
            row = json.loads(path.read_bytes())
            for name in lists:
                lists[name] = tuple(_open(folder, entry) for entry in row[name])
            return int(row["number"]), lists
        except (ValueError, KeyError, TypeError) as error:
            raise MathAMRError(f"{path} is damaged ({error}); build the index again") from error
        except OSError as error:
            raise MathAMRError(f"cannot read {path}: {error.strerror or error}") from error
        except MathAMRError as error:
            if isinstance(error.__cause__, FileNotFoundError) and attempts:
                return FlatEngine._read_list(folder, attempts - 1)
            raise

    def _sweep(self) -> None:
        """Removes files that no list names: left by a crash, or merged into others."""
        named = {_LIST}
        for stored in (*self.posts.stored, *self.formulas.stored):
            named |= {stored.file, stored.dead_file or ""}
        for path in self.folder.iterdir():
            if path.suffix in (_SEGMENT, _DEAD, ".new") and path.name not in named:
                # A file that cannot be removed takes room, nothing else.
                with suppress(OSError):
                    path.unlink()

    def flush(self) -> None:
        """Writes what waits as new segments, then the list: when it returns, a crash loses nothing."""
        self._write(everything=False)

    def optimize(self) -> None:
        """Merges all segments of a collection into one."""
        self._write(everything=True)

    def _write(self, *, everything: bool) -> None:
        if self._lock is None:
            return
        with self.posts._lock, self.formulas._lock:
            plans = {
                collection: self._plan(collection, everything) for collection in (self.posts, self.formulas)
            }
            if not any(plan.changed for plan in plans.values()):
                return
            written = {
                collection: tuple(self._store(collection, part) for part in plan.parts)
                for collection, plan in plans.items()
            }
            self._number += 1
            rows: dict[str, Any] = {"number": self._number}
            for collection, stored in written.items():
                rows[collection.name] = [{"file": one.file, "dead": one.dead_file} for one in stored]
            write_whole(self.folder / _LIST, json.dumps(rows, indent=1).encode())
            for collection, stored in written.items():
                collection.stored, collection.waiting, collection._view = stored, {}, None
        self._sweep()

    def _plan(self, collection: FlatCollection, everything: bool) -> _Plan:
        """Which segments stay and which are merged with what waits: those that are not much larger, as they come."""
        keep, merge = list(collection.stored), []
        waiting = collection.view().waiting
        fresh = 0 if waiting is None else len(waiting)
        size = fresh
        sparse = [one for one in keep if len(one.dead) > _SPARSE * len(one.segment)]
        several = everything and len(keep) + bool(fresh) > 1
        if several or (everything and keep and len(keep[0].dead)):
            keep, merge = [], keep
        else:
            while keep and size and keep[-1].living <= 2 * size:
                merge.append(keep.pop())
                size += merge[-1].living
            merge += [one for one in sparse if one not in merge]
            keep = [one for one in keep if one not in merge]
        parts: list[_Stored | Segment] = list(keep)
        merged = [
            (one.segment, np.nonzero(one.alive)[0] if one.alive is not None else np.arange(len(one.segment)))
            for one in merge
        ]
        merged = [(segment, rows) for segment, rows in merged if len(rows)]
        if waiting is not None:
            merged.append((waiting, np.arange(len(waiting))))
        if merged:
            parts.append(Segment.merged(merged) if merge else merged[0][0])
        changed = bool(fresh or merge or any(len(one.dead) and one.dead_file is None for one in keep))
        return _Plan(parts, changed)

    def _store(self, collection: FlatCollection, part: _Stored | Segment) -> _Stored:
        """Puts a part of a plan on disk."""
        if isinstance(part, Segment):
            file = self._name(collection, _SEGMENT)
            part.write(self.folder / file, quantised=self._options.first_pass != "none")
            return _Stored(file, Segment.read(self.folder / file), np.zeros(0, np.int64), None)
        if len(part.dead) and part.dead_file is None:
            file = self._name(collection, _DEAD)
            write_arrays(self.folder / file, {"dead": part.dead})
            return replace(part, dead_file=file)
        return part

    def _name(self, collection: FlatCollection, suffix: str) -> str:
        self._number += 1
        return f"{collection.name}-{self._number:08d}{suffix}"

    def verify(self) -> list[str]:
        """Files whose content no longer has its checksum."""
        names = [
            name
            for stored in (*self.posts.stored, *self.formulas.stored)
            for name in (stored.file, stored.dead_file)
            if name
        ]
        return [f"{name} is damaged" for name in names if not intact(self.folder / name)]

    def close(self) -> None:
        """Flushes and lets the next writer in."""
        if self._lock is not None:
            try:
                self.flush()
            finally:
                self._lock.release()
                self._lock = None

    def drop(self) -> None:
        """Removes all files."""
        if self._lock is None:
            raise MathAMRError("the engine was opened for reading only")
        EngineHead.remove(self.folder)
        for collection in (self.posts, self.formulas):
            collection.stored, collection.waiting, collection._view = (), {}, None
        (self.folder / _LIST).unlink(missing_ok=True)
        self._sweep()
        self.close()


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """What a collection will consist of after a flush: segments that stay, and new ones."""

    parts: list[_Stored | Segment]
    changed: bool


def _open(folder: Path, entry: dict[str, str | None]) -> _Stored:
    file, dead_file = str(entry["file"]), entry["dead"]
    dead = np.zeros(0, np.int64)
    if dead_file is not None:
        dead = np.array(map_arrays(folder / dead_file)["dead"], np.int64)
    segment = Segment.read(folder / file)
    if len(dead) and not (dead[0] >= 0 and dead[-1] < len(segment)):
        raise MathAMRError(f"{folder / str(dead_file)} is damaged; build the index again")
    return _Stored(file, segment, dead, dead_file)
