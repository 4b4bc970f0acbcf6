"""The models at run time, in numpy: sums of feature vectors, one hidden layer, a linear output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from mathamr.core.arrays import FloatArray

T = TypeVar("T")


class Bag(NamedTuple):
    """Feature vectors that are summed; features that were too rare in training are left out."""

    vocabulary: dict[str, int]
    weights: FloatArray


def softmax(scores: FloatArray) -> FloatArray:
    """Probabilities along the last axis."""
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True), dtype=np.float32)


class Weights:
    """All arrays and vocabularies of the parser, as one npz file without pickles.

    Matrices are stored as 8-bit integers with one scale per column; text tables as JSON bytes.
    """

    def __init__(self, arrays: dict[str, FloatArray], tables: dict[str, object]) -> None:
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
        arrays: dict[str, FloatArray] = {}
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
        """A text table; raises `ValueError` if it is not of the expected type."""
        table = self.tables[name]
        if not isinstance(table, kind):
            raise ValueError(f"the table {name!r} is not a {kind.__name__}")
        return table

    def bag(self, name: str) -> Bag:
        """The vocabulary and the vectors of one kind of feature."""
        words = self.table(name, list)
        return Bag({word: number for number, word in enumerate(words)}, self.arrays[name])
