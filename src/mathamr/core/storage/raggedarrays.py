"""`RaggedArray` and `Strings`: lists of numbers and columns of strings, each stored in one array."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from mathamr.core.arrays import AnyArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class RaggedArray:
    """Lists of numbers, one after the other; list i is ``data[ends[i-1]:ends[i]]``."""

    data: AnyArray
    ends: IntArray

    @classmethod
    def of(cls, rows: Sequence[Sequence[int] | bytes], dtype: str) -> RaggedArray:
        """Store the lists in one array."""
        ends = np.cumsum([len(row) for row in rows], dtype=np.int64)
        if dtype == "u1":
            return cls(np.frombuffer(b"".join(map(bytes, rows)), np.uint8), ends)
        return cls(np.array([value for row in rows for value in row], dtype), ends)

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, row: int) -> AnyArray:
        return self.data[self.ends[row - 1] if row else 0 : self.ends[row]]

    def take(self, rows: IntArray) -> RaggedArray:
        """Return some of the lists, in that order."""
        starts = np.where(rows > 0, self.ends[rows - 1], 0)
        lengths = self.ends[rows] - starts
        ends = np.cumsum(lengths)
        where = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - ends + lengths, lengths)
        return RaggedArray(self.data[where], ends)

    @staticmethod
    def joined(parts: Sequence[RaggedArray]) -> RaggedArray:
        """Concatenate several ragged arrays."""
        before = np.cumsum([0, *(len(part.data) for part in parts)])
        return RaggedArray(
            np.concatenate([part.data for part in parts]),
            np.concatenate([part.ends + shift for part, shift in zip(parts, before, strict=False)]),
        )


_REMEMBERED = 1 << 17
"""Strings of a column that are cached: about 10 MB."""


class Strings:
    """A column of strings; a short column is decoded once and cached."""

    def __init__(self, cells: RaggedArray) -> None:
        self.cells = cells
        self._asked = 0
        self._read: npt.NDArray[np.object_] | None = None

    @classmethod
    def of(cls, texts: Iterable[str]) -> Strings:
        """Return a column of these strings."""
        return cls(RaggedArray.of([text.encode() for text in texts], "u1"))

    def __len__(self) -> int:
        return len(self.cells)

    def __getitem__(self, row: int) -> str:
        return self.cells[row].tobytes().decode()

    @property
    def is_read(self) -> bool:
        """True if the column is cached."""
        return self._read is not None

    def some(self, rows: IntArray) -> list[str]:
        """Return the strings of some rows."""
        if len(self) > _REMEMBERED:
            return Strings(self.cells.take(rows)).all()
        # The column is decoded completely only after as many strings were requested: a single search needs a few.
        if self._read is None and self._asked < len(self):
            self._asked += len(rows)
            return Strings(self.cells.take(rows)).all()
        if self._read is None:
            self._read = np.array(self.all(), np.object_)
        texts: list[str] = self._read[rows].tolist()
        return texts

    def all(self) -> list[str]:
        """Return all strings."""
        if self._read is not None:
            return list(self._read)
        data, ends = self.cells.data.tobytes(), self.cells.ends.tolist()
        if data.isascii():  # cut once decoded: half the time
            text = data.decode("ascii")
            return [text[start:end] for start, end in pairwise([0, *ends])]
        return [data[start:end].decode() for start, end in pairwise([0, *ends])]
