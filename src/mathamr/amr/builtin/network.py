"""The models at run time, in numpy: sums of feature vectors, one hidden layer, a linear output."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
T = TypeVar("T")


class Bag:
    """Feature vectors that are summed; features that were too rare in training are left out."""

    def __init__(self, vocabulary: dict[str, int], weights: Array) -> None:
        self.vocabulary = vocabulary
        self.weights = weights
        self._unknown = len(weights)
        self._padded = np.concatenate([weights, np.zeros((1, weights.shape[1]), dtype=np.float32)])

    def ids(self, features: Iterable[str]) -> list[int]:
        """The numbers of the known features."""
        get = self.vocabulary.get
        return [number for number in map(get, features) if number is not None]

    def fixed_ids(self, features: Iterable[str]) -> list[int]:
        """The numbers of all features; unknown ones share a number whose vector is zero."""
        get, unknown = self.vocabulary.get, self._unknown
        return [get(feature, unknown) for feature in features]

    def fixed_sums(self, rows: Sequence[Sequence[int]]) -> Array:
        """One summed vector for every row; all rows are of one length, which is quicker than `sums`."""
        columns = np.array(rows, dtype=np.int64).T
        if not columns.size:
            return np.zeros((len(rows), self.weights.shape[1]), dtype=np.float32)
        made: Array = self._padded[columns[0]]
        for column in columns[1:]:
            made += self._padded[column]
        return made

    def sums(self, rows: Sequence[Sequence[int]]) -> Array:
        """One summed vector for every row of feature numbers."""
        return sum_rows(self.weights, rows)


def sum_rows(weights: Array, rows: Sequence[Sequence[int]]) -> Array:
    """Sums of rows of a matrix; an empty row gives zeros."""
    sizes = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    made = np.zeros((len(rows), weights.shape[1]), dtype=np.float32)
    filled = np.flatnonzero(sizes)
    if filled.size:
        flat = np.fromiter((number for row in rows for number in row), dtype=np.int64, count=int(sizes.sum()))
        starts = np.concatenate(([0], np.cumsum(sizes[filled])[:-1]))
        made[filled] = np.add.reduceat(weights[flat], starts, axis=0)
    return made


def softmax(scores: Array) -> Array:
    """Probabilities along the last axis."""
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True), dtype=np.float32)


class Weights:
    """All arrays and vocabularies of the parser, as one npz file without pickles.

    Matrices are stored as 8-bit integers with one scale a column; text tables as JSON bytes.
    """

    def __init__(self, arrays: dict[str, Array], tables: dict[str, object]) -> None:
        self.arrays = arrays
        self.tables = tables

    def save(self, path: Path) -> None:
        """Writes the file; the same weights give the same bytes."""
        stored: dict[str, NDArray[np.generic]] = {}
        for name, array in self.arrays.items():
            if array.ndim == 2 and array.size > 4096:
                scale = np.maximum(np.abs(array).max(axis=0), 1e-8) / 127.0
                stored[name] = np.rint(array / scale).astype(np.int8)
                stored[name + "/scale"] = scale.astype(np.float32)
            else:
                stored[name] = array.astype(np.float32)
        for name, table in self.tables.items():
            text = json.dumps(table, ensure_ascii=False, separators=(",", ":")).encode()
            stored["table/" + name] = np.frombuffer(text, dtype=np.uint8)
        np.savez_compressed(path, **stored)  # type: ignore[arg-type]

    @classmethod
    def load(cls, path: Path) -> Weights:
        """Reads the file of `save`."""
        arrays: dict[str, Array] = {}
        tables: dict[str, object] = {}
        with np.load(path, allow_pickle=False) as stored:
            for name in stored.files:
                if name.startswith("table/"):
                    tables[name[6:]] = json.loads(stored[name].tobytes())
                elif not name.endswith("/scale"):
                    array = stored[name].astype(np.float32)
                    arrays[name] = (
                        array * stored[name + "/scale"] if name + "/scale" in stored.files else array
                    )
        return cls(arrays, tables)

    def table(self, name: str, kind: type[T]) -> T:
        """A text table of the kind that the caller expects."""
        table = self.tables[name]
        if not isinstance(table, kind):
            raise ValueError(f"the table {name!r} is no {kind.__name__}")
        return table

    def bag(self, name: str) -> Bag:
        """The vocabulary and the vectors of one kind of feature."""
        words = self.table(name, list)
        return Bag({word: number for number, word in enumerate(words)}, self.arrays[name])
