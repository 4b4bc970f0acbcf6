"""`Segments`: the segments of a folder and which of their entries are alive; `Change`: an update of them.

Segments are merged as they grow, so that their number is about the logarithm of the number of entries (`merge_start`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mathamr.core.arrays import BoolArray, IntArray
from mathamr.core.errors import MathAMRError
from mathamr.core.storage.mappedarrays import map_arrays, write_arrays
from mathamr.core.storage.segmentlist import SegmentList, merge_groups, merge_start
from mathamr.index.lexical.bags import Bag
from mathamr.index.lexical.segment import Segment
from mathamr.index.lexical.terms import FIELDS
from mathamr.index.scored import EntryNames

FORMAT = 1
LIST = "segments.json"


@dataclass(frozen=True, eq=False)
class Segments:
    """An immutable state of a folder, which a search uses while others write."""

    parts: tuple[tuple[Segment, BoolArray], ...] = ()
    generation: int = 0

    @classmethod
    def read(cls, folder: Path) -> Segments:
        """Return the state that the folder's list names."""
        listing = segment_list(folder)

        def opened(head: dict[str, Any]) -> Segments:
            if head["format"] != FORMAT:
                raise MathAMRError(
                    f"{folder / LIST} has format {head['format']}, this version reads {FORMAT}; build the index again"
                )
            parts = []
            for row in head["segments"]:
                segment = Segment.open(listing.path(row["file"]))
                alive = np.ones(len(segment), bool)
                if row["alive"]:
                    packed = map_arrays(listing.path(row["alive"]))["alive"]
                    alive = np.unpackbits(packed, count=len(segment)).astype(bool)
                parts.append((segment, alive))
            return cls(tuple(parts), int(head["generation"]))

        return listing.read(opened)

    def __len__(self) -> int:
        return self._size

    @cached_property
    def _size(self) -> int:
        return sum(len(segment) for segment, _ in self.parts)

    @cached_property
    def count(self) -> int:
        """The number of entries that are alive."""
        return sum(int(alive.sum()) for _, alive in self.parts)

    @cached_property
    def is_complete(self) -> tuple[bool, ...]:
        """For each segment, whether all of its entries are alive."""
        return tuple(bool(alive.all()) for _, alive in self.parts)

    @cached_property
    def averages(self) -> dict[str, float]:
        """The average number of terms of each field, over the entries that are alive."""
        return {
            field: sum(
                int(segment.lengths(field)[alive].sum(dtype=np.int64)) for segment, alive in self.parts
            )
            / max(1, self.count)
            for field in FIELDS
        }

    def mask(self, where: Collection[str] | None) -> BoolArray:
        """Return a mask of the entries that are alive and among `where`, over all segments."""
        if where is None:
            return np.concatenate([np.empty(0, bool), *(alive for _, alive in self.parts)])
        wanted = np.zeros(len(self), bool)
        wanted[self.rows(where)] = True
        return wanted

    def rows(self, ids: Collection[str]) -> IntArray:
        """Return the rows of those of some entries that are alive, ascending, counted over all segments."""
        found, start = [np.empty(0, np.int64)], 0
        for segment, alive in self.parts:
            rows = np.array(sorted({row for row in map(segment.rows.get, ids) if row is not None}), np.int64)
            found.append(rows[alive[rows]] + start)
            start += len(segment)
        return np.concatenate(found)

    @cached_property
    def names(self) -> EntryNames:
        """The ids of all rows."""
        return EntryNames([segment.names for segment, _ in self.parts])

    def packed_trees(self, rows: IntArray) -> list[bytes]:
        """Return the packed trees of rows, which must ascend; empty where none are stored."""
        return [
            b"" if (packed := segment.packed_trees) is None else packed[row].tobytes()
            for segment, own in self._split(rows)
            for row in own.tolist()
        ]

    def _split(self, rows: IntArray) -> Iterator[tuple[Segment, IntArray]]:
        """Yield the segments with their own of some ascending rows."""
        start = 0
        for segment, _ in self.parts:
            begin, end = np.searchsorted(rows, (start, start + len(segment)))
            if end > begin:
                yield segment, rows[begin:end] - start
            start += len(segment)


class Change:
    """An update of a state, in memory and in files that are not listed yet."""

    def __init__(self, folder: Path, before: Segments) -> None:
        self._folder = folder
        self._generation = before.generation + 1
        self._parts = [(segment, alive.copy()) for segment, alive in before.parts]
        self._files = 0
        self.is_empty = True

    def delete(self, identifier: str) -> None:
        """Delete an entry if it exists."""
        for segment, alive in self._parts:
            row = segment.rows.get(identifier)
            if row is not None and alive[row]:
                alive[row] = False
                self.is_empty = False

    @property
    def has_several(self) -> bool:
        """True if there is more than one segment."""
        return len(self._parts) > 1

    def add(self, entries: Mapping[str, Bag], new: Collection[str] = frozenset()) -> None:
        """Add entries or replace those of the same id; those in `new` are known not to exist yet."""
        for identifier in entries:
            if identifier not in new:
                self.delete(identifier)
        self._parts.append(_all_alive(Segment.write(self._new("segment"), list(entries.items()))))
        self.is_empty = False

    def publish(self, *, everything: bool = False) -> Segments:
        """Make the change the state of the folder atomically; `everything` merges all segments but those that are large enough."""
        self._merge(everything=everything)
        rows = []
        for segment, alive in self._parts:
            name = None
            if not alive.all():
                path = self._new("alive")
                write_arrays(path, {"alive": np.packbits(alive)})
                name = path.name
            rows.append({"file": segment.path.name, "alive": name})
        head = {"format": FORMAT, "generation": self._generation, "segments": rows}
        segment_list(self._folder).replace(head)
        return Segments(tuple(self._parts), self._generation)

    def _merge(self, *, everything: bool) -> None:
        """Merge the last segments as `merge_start` says.

        A segment in which most entries are deleted is rewritten without them.
        """
        self._parts = [(segment, alive) for segment, alive in self._parts if alive.any()]
        sizes = [int(alive.sum()) for _, alive in self._parts]
        if everything:
            groups = [[self._parts[place] for place in group] for group in merge_groups(sizes)]
        else:
            first = merge_start(sizes)
            groups = [[part] for part in self._parts[:first]] + [self._parts[first:]]
        self._parts = [part for group in groups for part in self._merged(group)]

    def _merged(self, group: Sequence[tuple[Segment, BoolArray]]) -> Sequence[tuple[Segment, BoolArray]]:
        if not group or (len(group) == 1 and 2 * group[0][1].sum() >= len(group[0][0])):
            return group
        return [_all_alive(Segment.merge(self._new("segment"), group))]

    def _new(self, kind: str) -> Path:
        self._files += 1
        return self._folder / f"{self._generation:08d}-{self._files:04d}.{kind}"


def create(folder: Path) -> None:
    """Create a folder without entries if it does not exist."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MathAMRError(f"cannot make the folder {folder}: {error.strerror or error}") from error
    listing = segment_list(folder)
    if not listing.exists():
        listing.replace({"format": FORMAT, "generation": 0, "segments": []})


def segment_list(folder: Path) -> SegmentList:
    """Return the list of a folder's segments."""
    return SegmentList(folder, LIST, (".segment", ".alive"))


def _all_alive(segment: Segment) -> tuple[Segment, BoolArray]:
    return segment, np.ones(len(segment), bool)
