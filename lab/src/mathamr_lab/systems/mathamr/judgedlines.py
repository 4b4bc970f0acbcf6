"""`JudgedPair`: the contexts of a query formula and of a judged one, with the grade; read and written as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mathamr.core.arrays import AnyArray, IntArray
from mathamr.core.errors import MathAMRError

SCORES = (0.0, 0.5, 1.0, 1.0)
"""The scores of grades: high and medium 1, low 0.5, not relevant 0 (section 4)."""


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """Two lines of a topic, and their grade."""

    topic: str
    query: str
    candidate: str
    grade: int


def pairs_of(rows: Iterable[Any]) -> list[JudgedPair]:
    """Return pairs from rows with `topic`, `query`, `candidate` (lines of text) and `grade` (0 to 3)."""
    found: list[JudgedPair] = []
    for number, row in enumerate(rows, 1):
        try:
            grade = int(row["grade"])
            if not 0 <= grade <= 3:
                raise ValueError(f"the grade {grade} is not from 0 to 3")
            found.append(JudgedPair(str(row["topic"]), str(row["query"]), str(row["candidate"]), grade))
        except (KeyError, TypeError, ValueError) as error:
            raise MathAMRError(
                f"judgment {number}: expected topic, query, candidate and grade ({type(error).__name__}: {error})"
            ) from error
    if len(found) < 2:
        raise MathAMRError(f"{len(found)} judgments are too few to train on")
    return found


def read_pairs(path: Path) -> list[JudgedPair]:
    """Read JSON lines."""
    try:
        with path.open(encoding="utf-8") as file:
            return pairs_of(json.loads(line) for line in file if line.strip())
    except (OSError, ValueError, RecursionError) as error:
        raise MathAMRError(f"cannot read the judgments in {path}: {error}") from error


def write_pairs(pairs: Iterable[JudgedPair], path: Path) -> None:
    """Write JSON lines."""
    path.write_text("".join(f"{json.dumps(asdict(pair), ensure_ascii=False)}\n" for pair in pairs), "utf-8")


def split_by_grade(grades: Sequence[int] | AnyArray, share: float, seed: int) -> tuple[IntArray, IntArray]:
    """Return (training, validation): the same share of every grade is held out (section 5)."""
    chance = np.random.default_rng([seed, 3])
    kept = [
        chance.permutation(np.flatnonzero(np.asarray(grades) == grade))[
            : int(share * (np.asarray(grades) == grade).sum())
        ]
        for grade in range(4)
    ]
    held = np.sort(np.concatenate(kept)).astype(np.int64)
    return np.setdiff1d(np.arange(len(grades)), held).astype(np.int64), held
