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
from mathamr.index.engines.flat.quantised import FEWEST_ROWS, Quantised
from mathamr.index.engines.flat.slots import Slots
from mathamr.index.engines.maxsim import TIE, best, similarities, top
from mathamr.systems.field import Field
from mathamr.systems.vectors import Vectors

_FEW = 8
"""If fewer than one in this many entries pass a filter, only those are scored."""
_PIECE = 1 << 14
"""Number of vectors that are multiplied at a time."""


@dataclass(frozen=True, slots=True)
class FlatOptions:
    """How the flat engine stores and scans vectors."""

    dtype: str = "float32"
    """`float32`, or `float16` for half the disk and memory, with scores off by up to 0.001."""
    first_pass: str = "auto"
    """`int8`: an int8 copy finds the candidates; `none`: every vector is read; `auto`: the faster of both on this machine."""

    def __post_init__(self) -> None:
        for name, known in (("dtype", ("float32", "float16")), ("first_pass", ("auto", "int8", "none"))):
            if getattr(self, name) not in known:
                raise MathAMRError(
                    f"the flat engine's {name} is {' or '.join(known)}, not {getattr(self, name)!r}"
                )


@dataclass(frozen=True, eq=False)
class FieldRows(ABC):
    """Rows entry by entry, with their levels and references."""

    entries: IntArray
    levels: npt.NDArray[np.int8]
    references: Strings

    @classmethod
    @abstractmethod
    def arrange(
        cls, entries: IntArray, vectors: AnyArray, counts: IntArray, levels: AnyArray, references: RaggedArray
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
            vectors.astype(dtype, copy=False),
            np.array([len(each) for each in rows], np.int64),
            np.concatenate([np.zeros(0, np.int8), *(each.levels for each in rows)]).astype(np.int8),
            Strings.of(reference for each in rows for reference in each.references).cells,
        )

    @classmethod
    def merged(cls, parts: Sequence[tuple[FieldRows, IntArray, IntArray]]) -> Self:
        """Join some places of several rows, each with the new numbers of their entries."""
        where = [_spread(rows.starts[places], rows.counts[places]) for rows, places, _ in parts]
        vectors = np.concatenate([rows._gather(places) for rows, places, _ in parts])
        return cls.arrange(
            np.concatenate([numbers for _, _, numbers in parts]),
            vectors.astype(parts[0][0].dtype, copy=False),
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

    @abstractmethod
    def search_maxsim(
        self, query: FloatArray, k: int, passing: BoolArray | None, first_pass: str
    ) -> tuple[IntArray, FloatArray]:
        """Return places and scores of the k best by MaxSim, and of those that tie with the last."""

    def skim_maxsim(
        self, query: FloatArray, k: int, passing: BoolArray | None, first_pass: str
    ) -> tuple[IntArray, FloatArray]:
        """Search like `search_maxsim`, with approximate scores if exact ones take longer."""
        return self.search_maxsim(query, k, passing, first_pass)

    def search_rows(
        self, query: FloatArray, k: int, passing: BoolArray | None
    ) -> list[tuple[IntArray, FloatArray]]:
        """Return for each row of the query the places and cosines of the k nearest rows, and of those that tie with the last.

        They are rows of the k entries whose best rows are nearest.
        """
        found = []
        for row, cosines in zip(query, self._best_cosines(query), strict=True):
            places, _ = top(*_passing(cosines, passing), k)
            found.append(top(np.repeat(places, self.counts[places]), self._gather(places) @ row, k))
        return found

    @abstractmethod
    def _best_cosines(self, query: FloatArray) -> FloatArray:
        """Return the best cosine of each row of the query with the rows of each entry."""

    @abstractmethod
    def score(self, query: FloatArray, places: IntArray) -> FloatArray:
        """Return the exact MaxSim of some entries."""

    @abstractmethod
    def arrays(self, options: FlatOptions) -> dict[str, AnyArray]:
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

    vectors: AnyArray

    @classmethod
    def arrange(
        cls,
        entries: IntArray,
        vectors: AnyArray,
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
        vectors: FloatArray = self.vectors[places].astype(np.float32, copy=False)
        return vectors

    def search_maxsim(
        self,
        query: FloatArray,
        k: int,
        passing: BoolArray | None,
        first_pass: str,  # noqa: ARG002
    ) -> tuple[IntArray, FloatArray]:
        """Search by the mean of the cosines."""
        if passing is not None and passing.sum() * _FEW < len(self):
            (places,) = np.nonzero(passing)
            return top(places, self.score(query, places), k)
        return top(*_passing(self.score(query), passing), k)

    def _best_cosines(self, query: FloatArray) -> FloatArray:
        return similarities(query, self.vectors.astype(np.float32, copy=False))

    def score(self, query: FloatArray, places: IntArray | None = None) -> FloatArray:
        """Return the mean of the cosines, which is the cosine with the mean, of all entries unless some are given."""
        mean = query.mean(axis=0, keepdims=True)
        scores = np.empty(len(self) if places is None else len(places), np.float32)
        for start in range(0, len(scores), _PIECE):
            piece = slice(start, start + _PIECE)
            some = self.vectors[piece if places is None else places[piece]].astype(np.float32, copy=False)
            scores[piece] = similarities(mean, some)[0]
        return scores

    def arrays(self, options: FlatOptions) -> dict[str, AnyArray]:  # noqa: ARG002
        """Return the arrays by name, to be written to a file."""
        return self._common() | {"vectors": self.vectors}

    @classmethod
    def read(cls, arrays: Mapping[str, AnyArray]) -> SingleRows:
        """Read the rows from the arrays of `arrays`."""
        return cls(*_read_common(arrays), arrays["vectors"])

    def fits(self, entries: int, size: int) -> bool:
        """Return True if the parts fit together."""
        return self._fits(entries) and self.vectors.shape == (len(self), size)


@dataclass(frozen=True, eq=False)
class ManyRows(FieldRows):
    """Fields with many rows per entry, in slots."""

    slots: Slots
    quantised: Quantised | None = None

    @classmethod
    def arrange(
        cls, entries: IntArray, vectors: AnyArray, counts: IntArray, levels: AnyArray, references: RaggedArray
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

    def search_maxsim(
        self, query: FloatArray, k: int, passing: BoolArray | None, first_pass: str
    ) -> tuple[IntArray, FloatArray]:
        """Search by MaxSim; a first pass over whole numbers may choose which entries are scored exactly."""
        slots = self.slots
        count = len(self) if passing is None else int(passing.sum())
        if passing is not None and (count * _FEW < len(self) or count <= k):
            places = np.nonzero(passing)[0]
            return top(places, slots.score(query, places), k)
        if (
            self.quantised is not None
            and count > k
            and (first_pass == "int8" or (first_pass == "auto" and count >= _FEW * k))
        ):
            return self._through_int8(self.quantised, query, k, passing)
        return top(*_passing(slots.scan(query), passing), k)

    def skim_maxsim(
        self,
        query: FloatArray,
        k: int,
        passing: BoolArray | None,
        first_pass: str,
        fewest_rows: int = FEWEST_ROWS,
    ) -> tuple[IntArray, FloatArray]:
        """Use the int8 copy alone, whose scores have its rounding error, unless there are few rows."""
        count = len(self) if passing is None else int(passing.sum())
        quantised = self.quantised
        if (
            quantised is None
            or first_pass == "none"
            or len(self.slots.vectors) < fewest_rows
            or count * _FEW < len(self)
            or count <= k
        ):
            return self.search_maxsim(query, k, passing, first_pass)
        about, _ = quantised.bounded(self.slots, query)
        if passing is not None:
            about[~passing] = -np.inf
        places = best(about, k)
        return places, about[places]

    def _through_int8(
        self, quantised: Quantised, query: FloatArray, k: int, passing: BoolArray | None
    ) -> tuple[IntArray, FloatArray]:
        """Search exactly by the int8 copy: only entries that can be among the k best are scored by their own vectors."""
        about, wrong = quantised.bounded(self.slots, query)
        if passing is not None:
            about[~passing] = -np.inf
        first = best(about, k)
        exact = self.slots.score(query, first)
        floor = exact.min() - TIE
        # Entries that stay below even with the largest error of all need no exact score.
        (near,) = np.nonzero(about >= floor - wrong.most)
        near = near[about[near] + wrong.of(near) >= floor]
        others = np.setdiff1d(near, first, assume_unique=True)
        return top(
            np.concatenate([first, others]),
            np.concatenate([exact, self.slots.score(query, others)]),
            k,
        )

    def _best_cosines(self, query: FloatArray) -> FloatArray:
        return self.slots.best_cosines(query)

    def score(self, query: FloatArray, places: IntArray) -> FloatArray:
        """Return the exact MaxSim of some entries."""
        return self.slots.score(query, places)

    def arrays(self, options: FlatOptions) -> dict[str, AnyArray]:
        """Return the arrays by name, to be written to a file."""
        parts = self._common() | {
            "vectors": self.slots.vectors,
            "counts": self.slots.counts,
            "bounds": self.slots.bounds,
        }
        is_used = options.first_pass == "auto" and len(self.slots.vectors) >= FEWEST_ROWS
        if is_used or options.first_pass == "int8":
            parts |= Quantised.of(self.slots).arrays()
        return parts

    @classmethod
    def read(cls, arrays: Mapping[str, AnyArray]) -> ManyRows:
        """Read the rows from the arrays of `arrays`."""
        quantised = None
        if "int8" in arrays and len(arrays["int8.longest"]) == len(
            arrays["counts"]
        ):  # files of the first release have one
            parts = (arrays[f"int8{name}"] for name in ("", ".scales", ".errors", ".longest"))
            quantised = Quantised(*parts)
        slots = Slots(arrays["vectors"], arrays["counts"], arrays["bounds"])
        return cls(*_read_common(arrays), slots, quantised)

    def fits(self, entries: int, size: int) -> bool:
        """Return True if the parts fit together."""
        slots = self.slots
        if int(slots.bounds[-1]) != len(self) or slots.vectors.shape != (slots.bases[-1], size):
            return False
        if self.quantised is not None and self.quantised.numbers.shape != slots.vectors.shape:
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
