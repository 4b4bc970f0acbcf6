"""`JudgedLines`: contexts of judged formulas as word pieces, and the judgments between them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from mathamr.core.arrays import AnyArray, FloatArray, Int32Array, IntArray
from mathamr.core.errors import MathAMRError
from mathamr.systems.mathamr.sentenceencoder import line_pieces, whole
from mathamr.text.wordpieces import Pieces, WordPieces

SCORES = (0.0, 0.5, 1.0, 1.0)
"""The scores of grades: high and medium 1, low 0.5, not relevant 0 (seed, section 4)."""


@dataclass(frozen=True, slots=True, eq=False)
class JudgedLines:
    """Lines as pieces; judgment i says that line `candidates[i]` has the grade `grades[i]` for line `queries[i]`.

    `topics` has the topic of each judgment.
    """

    lines: tuple[Pieces, ...]
    topics: Int32Array
    queries: Int32Array
    candidates: Int32Array
    grades: npt.NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.grades)

    @property
    def scores(self) -> FloatArray:
        """The scores of the grades."""
        return np.array(SCORES, np.float32)[self.grades]

    def take(self, places: IntArray) -> JudgedLines:
        """Returns some judgments, in that order."""
        return JudgedLines(
            self.lines,
            self.topics[places],
            self.queries[places],
            self.candidates[places],
            self.grades[places],
        )

    @classmethod
    def of_rows(cls, rows: Iterable[dict[str, Any]], pieces: WordPieces, length: int) -> Self:
        """Builds it from rows with `topic`, `query`, `candidate` (lines of text) and `grade` (0 to 3)."""
        texts: dict[str, int] = {}
        topics: dict[str, int] = {}
        found: list[tuple[int, int, int, int]] = []
        for number, row in enumerate(rows, 1):
            try:
                grade = int(row["grade"])
                if not 0 <= grade <= 3:
                    raise ValueError(f"the grade {grade} is not from 0 to 3")
                found.append(
                    (
                        topics.setdefault(str(row["topic"]), len(topics)),
                        texts.setdefault(str(row["query"]), len(texts)),
                        texts.setdefault(str(row["candidate"]), len(texts)),
                        grade,
                    )
                )
            except (KeyError, TypeError, ValueError) as error:
                raise MathAMRError(
                    f"judgment {number}: expected topic, query, candidate and grade ({type(error).__name__}: {error})"
                ) from error
        if len(found) < 2:
            raise MathAMRError(f"{len(found)} judgments are too few to train on")
        columns = np.array(found, np.int64).T
        return cls(
            tuple(line_pieces(list(texts), pieces, length)),
            columns[0].astype(np.int32),
            columns[1].astype(np.int32),
            columns[2].astype(np.int32),
            columns[3].astype(np.int8),
        )

    @classmethod
    def read(cls, path: Path, pieces: WordPieces, length: int) -> Self:
        """Reads JSON lines."""
        try:
            with path.open(encoding="utf-8") as file:
                return cls.of_rows((json.loads(line) for line in file if line.strip()), pieces, length)
        except (OSError, ValueError, RecursionError) as error:
            raise MathAMRError(f"cannot read the judgments in {path}: {error}") from error

    def save(self, path: Path) -> None:
        """Writes one `.npz` without pickles."""
        lengths = np.array([len(line) for line in self.lines], np.int32)
        np.savez_compressed(
            path,
            numbers=np.concatenate([line.numbers for line in self.lines]),
            lengths=lengths,
            topics=self.topics,
            queries=self.queries,
            candidates=self.candidates,
            grades=self.grades,
        )

    @classmethod
    def load(cls, path: Path) -> Self:
        """The inverse of `save`."""
        try:
            with np.load(path, allow_pickle=False) as file:
                cuts = np.cumsum(file["lengths"])[:-1]
                lines = tuple(whole(numbers) for numbers in np.split(file["numbers"], cuts))
                return cls(lines, file["topics"], file["queries"], file["candidates"], file["grades"])
        except (OSError, ValueError, KeyError) as error:
            raise MathAMRError(f"{path} does not hold judged lines, or it is damaged: {error}") from error


def split_by_grade(grades: Sequence[int] | AnyArray, share: float, seed: int) -> tuple[IntArray, IntArray]:
    """Returns (training, validation): the same share of every grade is held out (seed, section 5)."""
    chance = np.random.default_rng([seed, 3])
    kept = [
        chance.permutation(np.flatnonzero(np.asarray(grades) == grade))[
            : int(share * (np.asarray(grades) == grade).sum())
        ]
        for grade in range(4)
    ]
    held = np.sort(np.concatenate(kept)).astype(np.int64)
    return np.setdiff1d(np.arange(len(grades)), held).astype(np.int64), held
