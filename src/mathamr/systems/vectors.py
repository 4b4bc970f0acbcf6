"""`Vectors`: rows of numbers, and what each row represents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mathamr.core.arrays import FloatArray
from mathamr.core.pickling import pickle_by_fields
from mathamr.posts.identifiers import rename
from mathamr.posts.level import Level


@pickle_by_fields
@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """Unit vectors as rows; row i represents `references[i]` at `levels[i]` (`Level`).

    A reference is a formula id, the number of a sentence, the post's id, or the number of a node or token.
    """

    vectors: FloatArray
    levels: npt.NDArray[np.integer[Any]]
    references: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.vectors)

    @classmethod
    def one(cls, vector: FloatArray, level: Level, reference: str) -> Vectors:
        """Make a single row."""
        return cls(np.asarray(vector, np.float32)[None], np.array([level], np.int8), (reference,))

    @property
    def document(self) -> FloatArray | None:
        """The vector of the complete post, if it has one."""
        _, vectors = self.at(Level.DOCUMENT)
        return next(iter(vectors), None)

    def at(self, level: Level) -> tuple[tuple[str, ...], FloatArray]:
        """Return the references and vectors of one level."""
        (rows,) = np.nonzero(self.levels == level)
        return tuple(self.references[row] for row in rows), self.vectors[rows]

    def renamed(self, old: str, new: str) -> Vectors:
        """Return the same rows for a post whose id has changed."""
        names = tuple(
            rename(reference, old, new) if level in (Level.DOCUMENT, Level.FORMULA) else reference
            for level, reference in zip(self.levels, self.references, strict=True)
        )
        return Vectors(self.vectors, self.levels, names)

    def take(self, rows: Sequence[int]) -> Vectors:
        """Return some rows, in that order."""
        chosen = list(rows)
        return Vectors(
            self.vectors[chosen], self.levels[chosen], tuple(self.references[row] for row in chosen)
        )
