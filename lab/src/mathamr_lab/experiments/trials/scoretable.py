"""`ScoreTable`: the scores of a complete collection for some topics, small enough to store: any run can be reranked with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.runs import Run

STEPS = 2**16 - 1


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTable:
    """A cosine for every topic and item, in steps of 1/32,767; every topic has all items."""

    topics: tuple[str, ...]
    items: tuple[str, ...]
    steps: npt.NDArray[np.uint16]

    @classmethod
    def of(cls, scores: Mapping[str, Mapping[str, float]]) -> ScoreTable:
        """Builds it from cosines by topic and item."""
        items = tuple(next(iter(scores.values()), {}))
        if any(tuple(found) != items for found in scores.values()):
            raise MathAMRError("a table of scores needs the same items for every topic")
        rows = np.array([list(found.values()) for found in scores.values()], np.float64)
        steps = np.round((np.clip(rows, -1, 1) + 1) / 2 * STEPS).astype(np.uint16)
        return cls(tuple(scores), items, steps.reshape(len(scores), len(items)))

    def over(self, run: Run, name: str) -> Run:
        """Returns the cosines of a run's results as a new run; results that the table lacks are left out."""
        row = {topic: number for number, topic in enumerate(self.topics)}
        place = {item: number for number, item in enumerate(self.items)}
        return Run.of(
            name,
            {
                topic: [
                    (hit.id, float(self.steps[row[topic], place[hit.id]]) / STEPS * 2 - 1)
                    for hit in hits
                    if topic in row and hit.id in place
                ]
                for topic, hits in run.rankings.items()
            },
        )

    def save(self, path: Path) -> None:
        """Writes one file without pickles."""
        np.savez_compressed(path, topics=np.array(self.topics), items=np.array(self.items), steps=self.steps)

    @classmethod
    def load(cls, path: Path) -> ScoreTable:
        """The inverse of `save`."""
        try:
            with np.load(path, allow_pickle=False) as file:
                table = cls(tuple(map(str, file["topics"])), tuple(map(str, file["items"])), file["steps"])
        except (OSError, ValueError, KeyError) as error:
            raise MathAMRError(f"{path} is not a table of scores, or it is damaged: {error}") from error
        if table.steps.shape != (len(table.topics), len(table.items)) or table.steps.dtype != np.uint16:
            raise MathAMRError(f"{path} is not a table of scores: topics and items do not fit the numbers")
        return table
