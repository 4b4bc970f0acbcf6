"""`FlatSegment`: some entries of the flat engine in one immutable file, which is searched memory-mapped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from mathamr.core.arrays import BoolArray, IntArray
from mathamr.core.cache import Cache
from mathamr.core.errors import MathAMRError
from mathamr.core.storage.mappedarrays import map_arrays, write_arrays
from mathamr.core.storage.raggedarrays import RaggedArray, Strings
from mathamr.index.engines.entry import Entry, Filter
from mathamr.index.engines.flat.fieldrows import FieldRows, read_rows, rows_of
from mathamr.index.engines.payloadcolumns import PayloadColumns
from mathamr.systems.field import Field

KEPT = 16
"""Filters whose masks are kept: every field of a ranking asks for the same one."""


@dataclass(frozen=True, eq=False)
class FlatSegment:
    """Entries of one kind in columns: ids, payloads, and the rows of each field.

    They are sorted by their total number of rows, so that the slots of a field with many rows mostly keep this order.
    """

    ids: Strings
    payloads: PayloadColumns
    fields: Mapping[str, FieldRows]

    @classmethod
    def of(cls, entries: Sequence[Entry], fields: Sequence[Field], dtype: str) -> FlatSegment:
        """Return a segment of entries in memory that are not written yet."""
        totals = [sum(map(len, entry.rows.values())) for entry in entries]
        chosen = [entries[number] for number in np.argsort(totals, kind="stable").tolist()]
        return cls(
            Strings.of(entry.id for entry in chosen),
            PayloadColumns.of([entry.payload for entry in chosen]),
            {field.name: rows_of(chosen, field, dtype) for field in fields},
        )

    @classmethod
    def merged(cls, parts: Sequence[tuple[FlatSegment, IntArray]], dtype: str) -> FlatSegment:
        """Return the given entries of several segments in one, their vectors as numbers of a type."""
        order = np.argsort(np.concatenate([part._totals[rows] for part, rows in parts]), kind="stable")
        numbers = np.empty(len(order), np.int64)
        numbers[order] = np.arange(len(order))
        ends = np.cumsum([len(rows) for _, rows in parts])[:-1]
        ids = RaggedArray.joined([part.ids.cells.take(rows) for part, rows in parts])
        payloads = PayloadColumns.joined([part.payloads.take(rows) for part, rows in parts])
        fields: dict[str, FieldRows] = {}
        for name, kind in parts[0][0].fields.items():
            found = []
            for (part, rows), new in zip(parts, np.split(numbers, ends), strict=True):
                renumbered = np.full(len(part), -1, np.int64)
                renumbered[rows] = new
                own = part.fields[name]
                places = own.places(rows)
                found.append((own, places, renumbered[own.entries[places]]))
            fields[name] = type(kind).merged(found, dtype)
        return cls(Strings(ids.take(order)), payloads.take(order), fields)

    def __len__(self) -> int:
        return len(self.ids)

    def has(self, dtype: str) -> bool:
        """Return True if the vectors of all fields are numbers of a type."""
        return all(rows.dtype == dtype for rows in self.fields.values())

    @cached_property
    def _totals(self) -> IntArray:
        """The number of rows of each entry in all fields."""
        totals = np.zeros(len(self), np.int64)
        for rows in self.fields.values():
            totals[rows.entries] += rows.counts
        return totals

    def mask(self, where: Filter) -> BoolArray:
        """Return a mask of the entries that pass a filter; those of the last filters are kept."""
        return self._masks.get_or_make(where, lambda: self.payloads.mask(where))

    @cached_property
    def _masks(self) -> Cache[Filter, BoolArray]:
        return Cache(KEPT)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {identifier: number for number, identifier in enumerate(self.ids.all())}

    def find(self, ids: Sequence[str]) -> IntArray:
        """Return the numbers of entries by id; unknown ids are left out."""
        numbers = map(self._numbers.get, ids)
        return np.array([number for number in numbers if number is not None], np.int64)

    def write(self, path: Path) -> int:
        """Write the segment; return its size in bytes."""
        arrays = {"ids": self.ids.cells.data, "ids.ends": self.ids.cells.ends}
        arrays |= {f"payload.{name}": array for name, array in self.payloads.arrays().items()}
        for field, rows in self.fields.items():
            parts = rows.arrays()
            arrays |= {f"field.{field}.{name}": array for name, array in parts.items()}
        return write_arrays(path, arrays)

    @classmethod
    def read(cls, path: Path, fields: Sequence[Field]) -> FlatSegment:
        """Return the segment of a file."""
        arrays = map_arrays(path)

        def group(prefix: str) -> dict[str, np.ndarray]:
            return {
                name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)
            }

        try:
            segment = cls(
                Strings(RaggedArray(arrays["ids"], arrays["ids.ends"])),
                PayloadColumns.read(group("payload.")),
                {field.name: read_rows(group(f"field.{field.name}."), field) for field in fields},
            )
            fitting = segment._fits(fields)
        except (KeyError, ValueError, IndexError) as error:
            raise MathAMRError(f"{path} is damaged (no {error}); build the index again") from error
        if not fitting:
            raise MathAMRError(f"{path} is damaged: its parts do not fit together; build the index again")
        return segment

    def _fits(self, fields: Sequence[Field]) -> bool:
        """Return True if the arrays have consistent sizes; does not read their content."""
        return {*map(len, self.payloads.plain.values()), *map(len, self.payloads.ragged.values())} == {
            len(self)
        } and all(self.fields[field.name].fits(len(self), field.size) for field in fields)
