"""`Segment`: the counts of every term in some entries, in one immutable, memory-mapped file.

Terms are stored as 64-bit hashes in ascending order, so that opening a segment reads nothing and finding a term is a binary
search. Two of ten million terms share a hash with a probability of about one in 400,000; then their counts would be added up.
The terms themselves are not stored, since every match is a term of the query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np

from mathamr.core.arrays import AnyArray, BoolArray, IntArray
from mathamr.core.errors import MathAMRError
from mathamr.core.storage.mappedarrays import map_arrays, write_arrays
from mathamr.core.storage.raggedarrays import RaggedArray, Strings
from mathamr.index.lexical.bags import NUMBER, TREES, Bag
from mathamr.index.lexical.terms import FIELDS

MOST = 255
"""The largest count, stored in one byte; higher counts would make no difference to any score."""


@dataclass(frozen=True, eq=False)
class Segment:
    """Entries numbered from 0, their ids, and for every field the postings of its terms."""

    path: Path
    arrays: Mapping[str, AnyArray]

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a segment on disk; raise an error if it is damaged."""
        arrays = map_arrays(path)
        needed = {"ids", "id_starts", *(f"{field}.{part}" for field in FIELDS for part in _PARTS)}
        if not needed <= arrays.keys():
            raise MathAMRError(f"{path} is damaged (it lacks arrays); build the lexical index again")
        return cls(path, arrays)

    @classmethod
    def write(cls, path: Path, entries: Sequence[tuple[str, Bag]]) -> Self:
        """Write a new segment, which is safe on disk when this returns."""
        arrays = _of_ids([identifier for identifier, _ in entries])
        for field in FIELDS:
            numbers = [bag.get(field, b"") for _, bag in entries]
            terms: AnyArray = np.frombuffer(b"".join(numbers), NUMBER)
            lengths = np.array([len(each) // terms.itemsize for each in numbers], np.int32)
            rows = np.repeat(np.arange(len(entries), dtype=np.int32), lengths)
            arrays |= _of_field(field, *_counted(terms, rows), lengths)
        trees = [bag.get(TREES, b"") for _, bag in entries]
        arrays |= _of_trees(RaggedArray.of(trees, "u1")) if any(trees) else {}
        write_arrays(path, arrays)
        return cls.open(path)

    @classmethod
    def merge(cls, path: Path, parts: Sequence[tuple[Segment, BoolArray]]) -> Self:
        """Write a new segment with the entries of others that are alive, in order."""
        ids = [
            identifier
            for segment, alive in parts
            for identifier, is_alive in zip(segment.ids, alive.tolist(), strict=True)
            if is_alive
        ]
        arrays = _of_ids(ids)
        for field in FIELDS:
            terms, rows, counts, lengths = [], [], [], []
            first = 0
            for segment, alive in parts:
                number = first + np.cumsum(alive) - 1
                starts = segment.arrays[f"{field}.starts"]
                of_row = segment.arrays[f"{field}.rows"]
                living = alive[of_row]
                terms.append(np.repeat(segment.arrays[f"{field}.terms"], np.diff(starts))[living])
                rows.append(number[of_row[living]].astype(np.int32))
                counts.append(segment.arrays[f"{field}.counts"][living])
                lengths.append(segment.arrays[f"{field}.lengths"][alive])
                first += int(alive.sum())
            arrays |= _of_field(field, *map(np.concatenate, (terms, rows, counts, lengths)))
        if any(segment.packed_trees is not None for segment, _ in parts):
            arrays |= _of_trees(RaggedArray.joined([segment.kept_trees(alive) for segment, alive in parts]))
        write_arrays(path, arrays)
        return cls.open(path)

    def __len__(self) -> int:
        return len(self.arrays["id_starts"]) - 1

    @cached_property
    def ids(self) -> list[str]:
        """The ids of all entries, by number."""
        return self.names.all()

    @cached_property
    def rows(self) -> dict[str, int]:
        """The numbers of entries, by id."""
        return {identifier: row for row, identifier in enumerate(self.ids)}

    @cached_property
    def names(self) -> Strings:
        """The ids of all entries, by number, as they are stored."""
        return Strings(RaggedArray(self.arrays["ids"], self.arrays["id_starts"][1:]))

    @cached_property
    def packed_trees(self) -> RaggedArray | None:
        """The packed trees of all entries; None in segments of posts, and in those of older versions."""
        if TREES not in self.arrays:
            return None
        return RaggedArray(self.arrays[TREES], self.arrays[f"{TREES}.ends"])

    def kept_trees(self, alive: BoolArray) -> RaggedArray:
        """Return the packed trees of the entries that are alive, empty where none are stored."""
        rows = np.flatnonzero(alive)
        packed = self.packed_trees
        return (
            RaggedArray(np.empty(0, np.uint8), np.zeros(len(rows), np.int64))
            if packed is None
            else packed.take(rows)
        )

    def lengths(self, field: str) -> AnyArray:
        """Return the number of terms of each entry in a field."""
        return self.arrays[f"{field}.lengths"]

    def find(self, field: str, terms: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Return the places of those of some terms that occur, and where their postings begin and end."""
        known, starts = self.arrays[f"{field}.terms"], self.arrays[f"{field}.starts"]
        places = np.searchsorted(known, terms)
        found = np.flatnonzero(places < len(known))
        found = found[known[places[found]] == terms[found]]
        return found, starts[places[found]], starts[places[found] + 1]

    def postings(self, field: str) -> tuple[AnyArray, AnyArray]:
        """Return the rows that have each term of a field, term by term, and how often each has it."""
        return self.arrays[f"{field}.rows"], self.arrays[f"{field}.counts"]


_PARTS = ("terms", "starts", "rows", "counts", "lengths")


def _of_ids(ids: Sequence[str]) -> dict[str, AnyArray]:
    encoded = [identifier.encode() for identifier in ids]
    starts = np.append(0, np.cumsum([len(each) for each in encoded], dtype=np.int64))
    return {"ids": np.frombuffer(b"".join(encoded), np.uint8), "id_starts": starts.astype(np.int64)}


def _of_trees(packed: RaggedArray) -> dict[str, AnyArray]:
    return {TREES: packed.data, f"{TREES}.ends": packed.ends}


def _counted(terms: AnyArray, rows: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return each term of each row once, with its count; rows must ascend."""
    order = np.argsort(terms, kind="stable")
    terms, rows = terms[order], rows[order]
    firsts = _firsts(terms, rows)
    counts = np.diff(firsts, append=len(terms))
    return terms[firsts], rows[firsts], np.minimum(counts, MOST).astype(np.uint8)


def _of_field(
    field: str, terms: AnyArray, rows: AnyArray, counts: AnyArray, lengths: AnyArray
) -> dict[str, AnyArray]:
    """Return the arrays of a field; the rows of a term must ascend, and stay in order."""
    order = np.argsort(terms, kind="stable")  # a stable sort is fast on data of few ascending runs
    terms = terms[order]
    firsts = _firsts(terms)
    values = (terms[firsts], np.append(firsts, len(terms)), rows[order], counts[order], lengths)
    types = (np.int64, np.int64, np.int32, np.uint8, np.int32)
    return {
        f"{field}.{part}": value.astype(kind) for part, value, kind in zip(_PARTS, values, types, strict=True)
    }


def _firsts(*sorted_arrays: AnyArray) -> AnyArray:
    """Return the positions at which a value of any of the arrays differs from the previous one."""
    if not len(sorted_arrays[0]):
        return np.empty(0, np.int64)
    changes = np.logical_or.reduce([each[1:] != each[:-1] for each in sorted_arrays])
    return np.flatnonzero(np.append(True, changes))
