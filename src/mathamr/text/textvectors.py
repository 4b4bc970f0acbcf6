"""`TextVectors`: the vectors that a text encoder gives the parts of a post, and `AnyTextEncoder`, which computes them.

A graph encoder with a text slot only needs to know which vector belongs to which representative. A
representative without text has no vector.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from mathamr.core.arrays import AnyFloatArray, Int32Array
from mathamr.core.errors import MathAMRError

if TYPE_CHECKING:
    from mathamr.text.wording import Wording
    from mathamr.text.wordpieces import Pieces, WordPieces


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


class AnyTextEncoder(Protocol):
    """A text encoder with any backend."""

    size: int
    fingerprint: str
    pieces: WordPieces

    def encode(self, wordings: Iterable[Wording]) -> Iterator[TextVectors]:
        """The vectors of every wording's spans, in the order of the wordings."""
        ...

    def encode_pieces(self, posts: Sequence[Pieces]) -> list[TextVectors]:
        """The vectors of the spans of cut wordings, in order."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class TextTable:
    """The text vectors of a shard: representative r, counted over all graphs, has `vectors[rows[r]]`, or none if that is -1."""

    vectors: AnyFloatArray
    rows: Int32Array

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or (len(self.rows) and int(self.rows.max()) >= len(self.vectors)):
            raise MathAMRError("the table of text vectors refers to rows that do not exist")

    @property
    def size(self) -> int:
        """The size of a vector."""
        return int(self.vectors.shape[1])

    def save(self, path: Path) -> None:
        """Writes one `.npz` without pickles."""
        with path.open("wb") as file:
            np.savez(file, allow_pickle=False, vectors=self.vectors, rows=self.rows)

    @classmethod
    def load(cls, path: Path) -> TextTable:
        """The inverse of `save`."""
        try:
            with np.load(path, allow_pickle=False) as file:
                vectors, rows = file["vectors"], file["rows"].astype(np.int32)
        except (OSError, ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile) as error:
            raise MathAMRError(f"{path} is not a table of text vectors, or it is damaged: {error}") from error
        return cls(vectors, rows)
