"""`Segments`: the segments of a folder and which of their entries are alive; `Change`: the way to the next state.

A list in the folder names the files of its state. A change writes new files beside them and then a new list, in one
step: a crash leaves the old state or the new one. Segments are merged as they grow, so that there are about as many
as the number of entries has binary digits.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mathamr.core.arrays import BoolArray, IndexArray
from mathamr.core.errors import MathAMRError
from mathamr.core.storage.durable import write_whole
from mathamr.core.storage.mappedarrays import map_arrays, write_arrays
from mathamr.index.lexical.bags import Bag
from mathamr.index.lexical.segment import Segment
from mathamr.index.lexical.terms import FIELDS

FORMAT = 1
LIST = "segments.json"
_ATTEMPTS = 5


@dataclass(frozen=True, eq=False)
class Segments:
    """A state of a folder. It never changes: a search holds on to it while others write."""

    parts: tuple[tuple[Segment, BoolArray], ...] = ()
    generation: int = 0

    @classmethod
    def read(cls, folder: Path) -> Segments:
        """The state that the folder's list names; read again where a writer has just replaced it."""
        for _ in range(_ATTEMPTS - 1):
            head = _head(folder)
            try:
                return cls._of(folder, head)
            except MathAMRError:
                if _head(folder)["generation"] == head["generation"]:
                    raise
        return cls._of(folder, _head(folder))

    @classmethod
    def _of(cls, folder: Path, head: Mapping[str, Any]) -> Segments:
        parts = []
        for row in head["segments"]:
            segment = Segment.open(folder / row["file"])
            alive = np.ones(len(segment), bool)
            if row["alive"]:
                packed = map_arrays(folder / row["alive"])["alive"]
                alive = np.unpackbits(packed, count=len(segment)).astype(bool)
            parts.append((segment, alive))
        return cls(tuple(parts), head["generation"])

    def __len__(self) -> int:
        return sum(len(segment) for segment, _ in self.parts)

    @cached_property
    def count(self) -> int:
        """How many entries are alive."""
        return sum(int(alive.sum()) for _, alive in self.parts)

    @cached_property
    def whole(self) -> tuple[bool, ...]:
        """Of which segments all entries are alive."""
        return tuple(bool(alive.all()) for _, alive in self.parts)

    @cached_property
    def averages(self) -> dict[str, float]:
        """How many terms each field of a living entry has on average."""
        return {
            field: sum(
                int(segment.lengths(field)[alive].sum(dtype=np.int64)) for segment, alive in self.parts
            )
            / max(1, self.count)
            for field in FIELDS
        }

    def mask(self, where: Collection[str] | None) -> BoolArray:
        """Which entries are alive and among those wanted; the segments one after another."""
        masks = [np.empty(0, bool)]
        for segment, alive in self.parts:
            if where is not None:
                rows = [row for row in map(segment.rows.get, where) if row is not None]
                wanted = np.zeros(len(segment), bool)
                wanted[rows] = alive[rows]
                alive = wanted
            masks.append(alive)
        return np.concatenate(masks)

    def ids(self, rows: IndexArray) -> list[str]:
        """The ids of rows in ascending order; rows are counted through all segments."""
        first = 0
        found: list[str] = []
        for segment, _ in self.parts:
            begin, end = np.searchsorted(rows, (first, first + len(segment)))
            found += segment.ids_of(rows[begin:end] - first)
            first += len(segment)
        return found


class Change:
    """What an update does to a state, in memory and in files that no list names yet."""

    def __init__(self, folder: Path, before: Segments) -> None:
        self._folder = folder
        self._generation = before.generation + 1
        self._parts = [(segment, alive.copy()) for segment, alive in before.parts]
        self._files = 0
        self.is_empty = True

    def delete(self, identifier: str) -> None:
        """Forgets an entry if there is one."""
        for segment, alive in self._parts:
            row = segment.rows.get(identifier)
            if row is not None and alive[row]:
                alive[row] = False
                self.is_empty = False

    def add(self, entries: Mapping[str, Bag]) -> None:
        """Adds entries or replaces those of the same id."""
        for identifier in entries:
            self.delete(identifier)
        self._parts.append(_whole(Segment.write(self._new("segment"), list(entries.items()))))
        self.is_empty = False

    def publish(self) -> Segments:
        """Makes the change the state of the folder, in one step."""
        self._merge()
        rows = []
        for segment, alive in self._parts:
            name = None
            if not alive.all():
                path = self._new("alive")
                write_arrays(path, {"alive": np.packbits(alive)})
                name = path.name
            rows.append({"file": segment.path.name, "alive": name})
        head = {"format": FORMAT, "generation": self._generation, "segments": rows}
        write_whole(self._folder / LIST, json.dumps(head, indent=1).encode())
        return Segments(tuple(self._parts), self._generation)

    def _merge(self) -> None:
        """Merges the last segments until the one before them is more than twice as large as they are together.

        A segment that is mostly dead is written anew without its dead.
        """
        self._parts = [(segment, alive) for segment, alive in self._parts if alive.any()]
        sizes = [int(alive.sum()) for _, alive in self._parts]
        first = max(0, len(sizes) - 1)
        while first and sizes[first - 1] <= 2 * sum(sizes[first:]):
            first -= 1
        groups = [[part] for part in self._parts[:first]] + [self._parts[first:]]
        self._parts = [part for group in groups for part in self._merged(group)]

    def _merged(self, group: Sequence[tuple[Segment, BoolArray]]) -> Sequence[tuple[Segment, BoolArray]]:
        if not group or (len(group) == 1 and 2 * group[0][1].sum() >= len(group[0][0])):
            return group
        return [_whole(Segment.merge(self._new("segment"), group))]

    def _new(self, kind: str) -> Path:
        self._files += 1
        return self._folder / f"{self._generation:08d}-{self._files:04d}.{kind}"


def create(folder: Path) -> None:
    """Makes a folder without entries where there is none."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MathAMRError(f"cannot make the folder {folder}: {error.strerror or error}") from error
    if not (folder / LIST).exists():
        write_whole(folder / LIST, json.dumps({"format": FORMAT, "generation": 0, "segments": []}).encode())


def tidy(folder: Path) -> None:
    """Removes files that the list does not name: of merged segments, and of changes that did not come to their end."""
    rows = _head(folder)["segments"]
    listed = {row["file"] for row in rows} | {row["alive"] for row in rows}
    for path in [*folder.glob("*-*.segment*"), *folder.glob("*-*.alive*")]:
        if path.name not in listed:
            with suppress(
                OSError
            ):  # somebody else's handle may hold it on some systems: the next change tries again
                path.unlink()


def _whole(segment: Segment) -> tuple[Segment, BoolArray]:
    return segment, np.ones(len(segment), bool)


def _head(folder: Path) -> dict[str, Any]:
    path = folder / LIST
    try:
        head = json.loads(path.read_bytes())
        found = head["format"]
        if found == FORMAT:
            return {
                "generation": int(head["generation"]),
                "segments": [
                    {"file": str(row["file"]), "alive": row["alive"] and str(row["alive"])}
                    for row in head["segments"]
                ],
            }
    except FileNotFoundError as error:
        raise MathAMRError(
            f"{folder} is no lexical index: it has no {LIST}; build the index again"
        ) from error
    except OSError as error:
        raise MathAMRError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise MathAMRError(f"{path} is damaged ({error}); build the lexical index again") from error
    raise MathAMRError(
        f"{path} has format {found}, this version reads {FORMAT}; build the lexical index again"
    )
