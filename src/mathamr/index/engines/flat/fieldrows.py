"""The vectors of one field in a segment: one row per entry, or many in slots; and the part that each row represents.

A *place* counts the entries that have the field; `entries` maps places to the entries of the segment.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from mathamr.core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from mathamr.core.errors import MathAMRError
from mathamr.core.storage.raggedarrays import RaggedArray, Strings
from mathamr.index.engines.entry import Entry
from mathamr.index.engines.flat.quantised import (
    Quantised,
    Stored,
    arrays_of,
    cosines,
    floats,
    read_arrays,
    rounded_rows,
    stored,
)
from mathamr.index.engines.flat.slots import Slots
from mathamr.index.engines.maxsim import top
from mathamr.systems.field import Field
from mathamr.systems.vectors import Vectors

_FEW = 8
"""If fewer than one in this many entries pass a filter, only those are scored."""
DTYPES = ("int8", "float16", "float32")
_PIECE = 1 << 14
"""Number of vectors that are multiplied at a time."""


@dataclass(frozen=True, slots=True)
class FlatOptions:
    """How the flat engine stores vectors."""

    dtype: str = "int8"
    """`int8`, eight bits a number with scores off by up to 0.01; `float16`, by up to 0.001; or `float32`."""
    first_pass: str = ""
    """Written by earlier releases, whose default was `float32` with a copy of eight bits: their vectors are rounded."""

    def __post_init__(self) -> None:
        if self.dtype not in DTYPES:
            raise MathAMRError(f"the flat engine's dtype is {', '.join(DTYPES)}, not {self.dtype!r}")
        if self.first_pass and self.dtype == "float32":
            object.__setattr__(self, "dtype", "int8")


@dataclass(frozen=True, eq=False)
class FieldRows(ABC):
    """Rows entry by entry, with their levels and references."""

    entries: IntArray
    levels: npt.NDArray[np.int8]
    references: Strings

    @classmethod
    @abstractmethod
    def arrange(
        cls, entries: IntArray, vectors: Stored, counts: IntArray, levels: AnyArray, references: RaggedArray
    ) -> Self:
        """Build the layout from rows that are concatenated by entry, and the number of rows of each."""

    @classmethod
    def of(cls, entries: Sequence[Entry], field: Field, dtype: str) -> Self:
        """Return the rows of entries in memory; those without the field are left out."""
        numbers = [number for number, entry in enumerate(entries) if field.name in entry.rows]
        rows = [entries[number].rows[field.name] for number in numbers]
        vectors = np.concatenate([np.zeros((0, field.size), np.float32), *(each.vectors for each in rows)])
        return cls.arrange(
            np.array(numbers, np.int64),
            stored(vectors, dtype),
            np.array([len(each) for each in rows], np.int64),
            np.concatenate([np.zeros(0, np.int8), *(each.levels for each in rows)]).astype(np.int8),
            Strings.of(reference for each in rows for reference in each.references).cells,
        )

    @classmethod
    def merged(cls, parts: Sequence[tuple[FieldRows, IntArray, IntArray]], dtype: str) -> Self:
        """Join some places of several rows, each with the new numbers of their entries, as numbers of a type."""
        where = [_spread(rows.starts[places], rows.counts[places]) for rows, places, _ in parts]
        vectors = np.concatenate([rows._gather(places) for rows, places, _ in parts])
        return cls.arrange(
            np.concatenate([numbers for _, _, numbers in parts]),
            stored(vectors, dtype),
            np.concatenate([rows.counts[places] for rows, places, _ in parts]),
            np.concatenate([part[0].levels[at] for part, at in zip(parts, where, strict=True)]),
            RaggedArray.joined(
                [part[0].references.cells.take(at) for part, at in zip(parts, where, strict=True)]
            ),
        )

    def __len__(self) -> int:
        return len(self.entries)

    @property
    @abstractmethod
    def counts(self) -> IntArray:
        """How many rows each entry has."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """The type of the stored numbers."""

    @cached_property
    def starts(self) -> IntArray:
        """The first row of each entry, counted over all entries."""
        starts: IntArray = np.cumsum(self.counts) - self.counts
        return starts

    def places(self, entries: IntArray) -> IntArray:
        """Return the places of entries of the segment; entries without the field are left out."""
        if not len(self):
            return np.empty(0, np.int64)
        order = self._by_entry
        found = np.minimum(np.searchsorted(self.entries, entries, sorter=order), len(self) - 1)
        places: IntArray = order[found]
        having: IntArray = places[self.entries[places] == entries]
        return having

    @cached_property
    def _by_entry(self) -> IntArray:
        return np.argsort(self.entries, kind="stable")

    def fetch(self, places: IntArray) -> list[Vectors]:
        """Return the rows of entries."""
        counts = self.counts[places]
        where = _spread(self.starts[places], counts)
        vectors, levels, references = self._gather(places), self.levels[where], self.references.some(where)
        return [
            Vectors(vectors[begin:end], levels[begin:end], tuple(references[begin:end]))
            for begin, end in pairwise([0, *np.cumsum(counts).tolist()])
        ]

    @abstractmethod
    def _gather(self, places: IntArray) -> FloatArray:
        """Return the concatenated vectors of entries."""

    def search_maxsim(
        self, query: FloatArray, k: int, passing: BoolArray | None
    ) -> tuple[IntArray, FloatArray]:
        """Return places and scores of the k best by MaxSim, and of those that tie with the last."""
        if passing is not None and passing.sum() * _FEW < len(self):
            (places,) = np.nonzero(passing)
            return top(places, self.score(query, places), k)
        return top(*_passing(self.scan(query), passing), k)

    @abstractmethod
    def scan(self, query: FloatArray) -> FloatArray:
        """Return the MaxSim of every entry."""

    def search_rows(
        self, query: FloatArray, k: int, passing: BoolArray | None
    ) -> list[tuple[IntArray, FloatArray]]:
        """Return for each row of the query the places and cosines of the k nearest rows, and of those that tie with the last.

        They are rows of the k entries whose best rows are nearest.
        """
        found = []
        query = self._asked(query)
        for row, best in zip(query, self._best_cosines(query), strict=True):
            places, _ = top(*_passing(best, passing), k)
            found.append(top(np.repeat(places, self.counts[places]), self._gather(places) @ row, k))
        return found

    def _asked(self, query: FloatArray) -> FloatArray:
        """Return a query with the precision of what it is compared with."""
        return query

    @abstractmethod
    def _best_cosines(self, query: FloatArray) -> FloatArray:
        """Return the best cosine of each row of the query with the rows of each entry."""

    @abstractmethod
    def score(self, query: FloatArray, places: IntArray) -> FloatArray:
        """Return the exact MaxSim of some entries."""

    @abstractmethod
    def arrays(self) -> dict[str, AnyArray]:
        """Return the arrays by name, to be written to a file."""

    def _common(self) -> dict[str, AnyArray]:
        cells = self.references.cells
        return {
            "entries": self.entries.astype(np.int32),
            "levels": self.levels,
            "references": cells.data,
            "references.ends": cells.ends,
        }

    @abstractmethod
    def fits(self, entries: int, size: int) -> bool:
        """Return True if the arrays have consistent sizes for a segment of that many entries; does not read their content."""

    def _fits(self, entries: int) -> bool:
        rows = int(self.counts.sum())
        return (
            len(self.levels) == len(self.references) == rows
            and len(self.counts) == len(self)
            and (not len(self) or (int(self.entries.min()) >= 0 and int(self.entries.max()) < entries))
        )


@dataclass(frozen=True, eq=False)
class SingleRows(FieldRows):
    """Fields with one row per entry."""

    vectors: Stored

    @classmethod
    def arrange(
        cls,
        entries: IntArray,
        vectors: Stored,
        counts: IntArray,  # noqa: ARG003
        levels: AnyArray,
        references: RaggedArray,
    ) -> SingleRows:
        """Build the rows in the order of the entries."""
        if (np.diff(entries) > 0).all():
            return cls(entries, levels, Strings(references), vectors)
        order = np.argsort(entries, kind="stable")
        return cls(entries[order], levels[order], Strings(references.take(order)), vectors[order])

    @cached_property
    def counts(self) -> IntArray:
        """The number of rows of each entry, always 1."""
        return np.ones(len(self), np.int64)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the stored numbers."""
        return self.vectors.dtype

    def _gather(self, places: IntArray) -> FloatArray:
        return floats(self.vectors[places])

    def scan(self, query: FloatArray) -> FloatArray:
        """Return the mean of the cosines with every entry."""
        return self.score(query)

    def _best_cosines(self, query: FloatArray) -> FloatArray:
        return cosines(query, self.vectors)

    def score(self, query: FloatArray, places: IntArray | None = None) -> FloatArray:
        """Return the mean of the cosines, which is the cosine with the mean, of all entries unless some are given."""
        mean = query.mean(axis=0, keepdims=True)
        scores = np.empty(len(self) if places is None else len(places), np.float32)
        for start in range(0, len(scores), _PIECE):
            piece = slice(start, start + _PIECE)
            scores[piece] = cosines(mean, self.vectors[piece if places is None else places[piece]])[0]
        return scores

    def arrays(self) -> dict[str, AnyArray]:
        """Return the arrays by name, to be written to a file."""
        return self._common() | arrays_of(self.vectors)

    @classmethod
    def read(cls, arrays: Mapping[str, AnyArray]) -> SingleRows:
        """Read the rows from the arrays of `arrays`."""
        return cls(*_read_common(arrays), read_arrays(arrays))

    def fits(self, entries: int, size: int) -> bool:
        """Return True if the parts fit together."""
        return self._fits(entries) and self.vectors.shape == (len(self), size)


@dataclass(frozen=True, eq=False)
class ManyRows(FieldRows):
    """Fields with many rows per entry, in slots."""

    slots: Slots

    @classmethod
    def arrange(
        cls, entries: IntArray, vectors: Stored, counts: IntArray, levels: AnyArray, references: RaggedArray
    ) -> ManyRows:
        """Sort entries by their number of rows."""
        order, slots = Slots.arrange(vectors, counts, entries)
        within = _spread((np.cumsum(counts) - counts)[order], counts[order])
        return cls(entries[order], levels[within], Strings(references.take(within)), slots)

    @property
    def counts(self) -> IntArray:
        """How many rows each entry has."""
        return self.slots.counts

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the stored numbers."""
        return self.slots.vectors.dtype

    def _gather(self, places: IntArray) -> FloatArray:
        return self.slots.gather(places)

    def scan(self, query: FloatArray) -> FloatArray:
        """Return the MaxSim of every entry."""
        return self.slots.scan(self._asked(query))

    def _best_cosines(self, query: FloatArray) -> FloatArray:
        return self.slots.best_cosines(query)

    def score(self, query: FloatArray, places: IntArray) -> FloatArray:
        """Return the exact MaxSim of some entries."""
        return self.slots.score(self._asked(query), places)

    def _asked(self, query: FloatArray) -> FloatArray:
        """Return a query with the precision of what it is compared with: rounded, if that has eight bits."""
        return rounded_rows(query) if isinstance(self.slots.vectors, Quantised) else query

    def arrays(self) -> dict[str, AnyArray]:
        """Return the arrays by name, to be written to a file."""
        return (
            self._common()
            | arrays_of(self.slots.vectors)
            | {"counts": self.slots.counts, "bounds": self.slots.bounds}
        )

    @classmethod
    def read(cls, arrays: Mapping[str, AnyArray]) -> ManyRows:
        """Read the rows from the arrays of `arrays`."""
        return cls(*_read_common(arrays), Slots(read_arrays(arrays), arrays["counts"], arrays["bounds"]))

    def fits(self, entries: int, size: int) -> bool:
        """Return True if the parts fit together."""
        slots = self.slots
        if int(slots.bounds[-1]) != len(self) or slots.vectors.shape != (slots.bases[-1], size):
            return False
        return self._fits(entries)


def read_rows(arrays: Mapping[str, AnyArray], field: Field) -> FieldRows:
    """Return the rows of a field from the arrays of a file."""
    return ManyRows.read(arrays) if field.many else SingleRows.read(arrays)


def rows_of(entries: Sequence[Entry], field: Field, dtype: str) -> FieldRows:
    """Return the rows of entries in a field."""
    return (ManyRows if field.many else SingleRows).of(entries, field, dtype)


def _read_common(arrays: Mapping[str, AnyArray]) -> tuple[IntArray, npt.NDArray[np.int8], Strings]:
    references = Strings(RaggedArray(arrays["references"], arrays["references.ends"]))
    return arrays["entries"].astype(np.int64), arrays["levels"], references


def _passing(scores: FloatArray, passing: BoolArray | None) -> tuple[IntArray, FloatArray]:
    """Return the places that pass the filter, with their scores."""
    if passing is None:
        return np.arange(len(scores)), scores
    (places,) = np.nonzero(passing)
    return places, scores[places]


def _spread(starts: IntArray, counts: IntArray) -> IntArray:
    """Concatenate the ranges that begin at the starts and have the given lengths."""
    before = np.cumsum(counts) - counts
    spread: IntArray = np.arange(int(counts.sum())) + np.repeat(starts - before, counts)
    return spread
