"""Vectors of a text encoder, made beforehand, for the representatives of graphs: the slot for pretrained encoders.

Whatever makes the vectors stands outside: an encoder with a text slot only needs to know which vector belongs to
which representative. A representative without text (a formula, say) simply has none.
"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mathamr.core.arrays import AnyFloatArray, Int32Array
from mathamr.core.errors import MathAMRError


@dataclass(frozen=True, slots=True, eq=False)
class TextVectors:
    """The text vectors of one graph: row i belongs to its representative `of[i]`."""

    of: npt.NDArray[np.integer[Any]]
    vectors: AnyFloatArray

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or len(self.of) != len(self.vectors):
            raise MathAMRError(
                f"{len(self.of)} representatives cannot have text vectors of shape {self.vectors.shape}"
            )


@dataclass(frozen=True, slots=True, eq=False)
class TextTable:
    """The text vectors of a whole shard: representative r of all, counted through, has `vectors[rows[r]]`, or none at -1."""

    vectors: AnyFloatArray
    rows: Int32Array

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or (len(self.rows) and int(self.rows.max()) >= len(self.vectors)):
            raise MathAMRError("a table of text vectors names rows that it does not have")

    @property
    def size(self) -> int:
        """The size of a vector."""
        return int(self.vectors.shape[1])

    def save(self, path: Path) -> None:
        """One `.npz` without pickles."""
        with path.open("wb") as file:
            np.savez(file, allow_pickle=False, vectors=self.vectors, rows=self.rows)

    @classmethod
    def load(cls, path: Path) -> TextTable:
        """The inverse of `save`."""
        try:
            with np.load(path, allow_pickle=False) as file:
                vectors, rows = file["vectors"], file["rows"].astype(np.int32)
        except (OSError, ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile) as error:
            raise MathAMRError(f"{path} is no table of text vectors, or it is damaged: {error}") from error
        return cls(vectors, rows)
