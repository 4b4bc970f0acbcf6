"""`Teacher`: orders of candidates by another scorer of formulas, for a network to learn from.

The scorer may be slow (aligning two trees takes a millisecond): the network puts its knowledge into vectors, which can
be searched by the million.
"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mathamr.core.arrays import AnyArray
from mathamr.core.errors import MathAMRError

MOST_HELD = 100
"""The maximum number of orders for validation."""


@dataclass(frozen=True, slots=True, eq=False)
class Teacher:
    """For every anchor, a formula by its number, some candidates and their scores."""

    anchors: AnyArray
    candidates: AnyArray
    scores: AnyArray

    def __len__(self) -> int:
        return len(self.anchors)

    @property
    def held(self) -> int:
        """The number of orders at the end that are held out for validation."""
        return min(MOST_HELD, len(self) // 10)

    def checked(self, formulas: int) -> Teacher:
        """Return itself if all its numbers are formulas."""
        for numbers in (self.anchors, self.candidates):
            if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < formulas:
                raise MathAMRError(
                    f"the teacher refers to formulas that are not among the {formulas} of the shard"
                )
        return self

    def save(self, path: Path) -> None:
        """Write one `.npz` without pickles."""
        with path.open("wb") as file:
            np.savez_compressed(file, anchors=self.anchors, candidates=self.candidates, scores=self.scores)

    @classmethod
    def load(cls, path: Path) -> Teacher:
        """Reverse `save`."""
        try:
            with np.load(path, allow_pickle=False) as file:
                anchors, candidates, scores = (file[name] for name in ("anchors", "candidates", "scores"))
            if anchors.ndim != 1 or candidates.shape != scores.shape or len(candidates) != len(anchors):
                raise ValueError("its arrays do not fit each other")
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise MathAMRError(f"{path} is not a teacher's file, or it is damaged: {error}") from error
        return cls(anchors, candidates, scores)
