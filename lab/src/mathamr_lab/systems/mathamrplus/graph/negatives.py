"""Hard negatives: for each question listed documents that look like answers and are none."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mathamr.core.arrays import AnyArray, IntArray
from mathamr.core.errors import MathAMRError
from mathamr_lab.training.chance import key, mixed


@dataclass(frozen=True, slots=True, eq=False)
class HardNegatives:
    """The negatives of question q are `numbers[starts[q] : starts[q + 1]]`; `unknown` counts ids not in the shard."""

    starts: IntArray
    numbers: IntArray
    unknown: int = 0

    @classmethod
    def of(cls, ids: tuple[str, ...], rows: Iterable[tuple[str, list[str]]]) -> HardNegatives:
        """From (question id, ids of its negatives), numbered as in a shard with these ids."""
        number = {post_id: index for index, post_id in enumerate(ids)}
        lists: dict[int, list[int]] = {}
        unknown = 0
        for question, negatives in rows:
            known = [number[post_id] for post_id in negatives if post_id in number]
            unknown += len(negatives) - len(known) + (question not in number)
            if question in number:
                lists.setdefault(number[question], []).extend(known)
        counts = [len(lists.get(index, ())) for index in range(len(ids))]
        joined = [item for index in sorted(lists) for item in lists[index]]
        return cls(np.append(0, np.cumsum(counts)), np.array(joined, np.int64), unknown)

    @classmethod
    def load(cls, path: Path, ids: tuple[str, ...]) -> HardNegatives:
        """From JSON lines ``{"question": ID, "negatives": [ID, …]}``."""

        def rows() -> Iterable[tuple[str, list[str]]]:
            with path.open(encoding="utf-8") as file:
                for place, line in enumerate(file, 1):
                    try:
                        row: Any = json.loads(line)
                        yield str(row["question"]), [str(post_id) for post_id in row["negatives"]]
                    except (ValueError, KeyError, TypeError, RecursionError) as error:
                        raise MathAMRError(
                            f"{path}, line {place}: no list of hard negatives ({error}); expected"
                            ' {"question": ID, "negatives": [ID, …]}'
                        ) from error

        try:
            return cls.of(ids, rows())
        except (OSError, UnicodeDecodeError) as error:
            raise MathAMRError(f"cannot read the hard negatives {path}: {error}") from error

    def drawn(
        self, questions: AnyArray, each: int, seed: int, epoch: int, slots: AnyArray
    ) -> tuple[IntArray, IntArray]:
        """Different negatives of each question, at most so many, and for each the question's place in the list."""
        counts = self.starts[questions + 1] - self.starts[questions]
        taken = np.minimum(counts, each)
        first = mixed(key(seed, epoch, 1), slots) % np.maximum(counts, 1).astype(np.uint64)
        owners = np.repeat(np.arange(len(questions)), taken)
        within = np.arange(int(taken.sum())) - np.repeat(np.cumsum(taken) - taken, taken)
        places = (first.astype(np.int64)[owners] + within) % np.maximum(counts, 1)[owners]
        return self.numbers[self.starts[questions][owners] + places], owners
