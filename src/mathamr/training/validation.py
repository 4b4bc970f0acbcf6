"""What a model is worth on the validation pairs: its loss, and how well questions find their own answers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from mathamr.training.learner import Learner
from mathamr.training.maxsim import Rows, maxsim
from mathamr.training.task import Task

SEARCHED = 1000
"""Pairs, at most, whose questions search among their answers."""


@dataclass(frozen=True, slots=True)
class Validation:
    """The loss over the validation pairs, and MRR@10 and recall@10 of finding the own answer among `searched` ones."""

    loss: float
    mrr: float
    recall: float
    searched: int

    def to_json(self) -> dict[str, Any]:
        """For the history."""
        return asdict(self)


class _Table:
    """The vectors of some posts by their numbers."""

    def __init__(self, learner: Learner, task: Task, posts: npt.NDArray[np.int64]) -> None:
        self._counts = np.diff(task.shard.starts["reps"])
        self._posts, self._device = posts, learner.device
        self._vectors = learner.encoded(task.plain(posts))
        self._begins = np.cumsum(self._counts[posts]) - self._counts[posts]

    def vectors(self, numbers: npt.NDArray[np.int64]) -> torch.Tensor:
        """The vectors of these posts, end to end."""
        places = np.searchsorted(self._posts, numbers)
        counts = self._counts[numbers]
        within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        rows = np.repeat(self._begins[places], counts) + within
        return self._vectors.index_select(0, torch.from_numpy(rows).to(self._device))

    def rows(self, numbers: npt.NDArray[np.int64]) -> Rows:
        """Which of these vectors belong to which post."""
        return Rows.of(self._counts[numbers], self._device)


def validate(learner: Learner, task: Task) -> Validation | None:
    """Measures the model on the validation pairs; None when there are none."""
    pairs = task.validation
    if len(pairs) < 2:
        return None
    table = _Table(learner, task, np.unique(pairs))
    with torch.inference_mode():
        return Validation(_loss(learner, task, table), *_search(task, table))


def _loss(learner: Learner, task: Task, table: _Table) -> float:
    size, total, count = task.configuration.batch_size, 0.0, 0
    for start in range(0, len(task.validation), size):
        batch = task.validation[start : start + size]
        if len(batch) < 2:
            break
        questions, answers = batch[:, 0], batch[:, 1]
        contrast = task.contrast(questions, answers, learner.device)
        loss = learner.loss(table.vectors(questions), table.vectors(answers), contrast)
        total, count = total + float(loss) * len(batch), count + len(batch)
    return total / count


def _search(task: Task, table: _Table) -> tuple[float, float, int]:
    """(MRR@10, recall@10, searched): each question among all the answers, its other answers left out."""
    pairs = task.validation[:SEARCHED]
    questions, answers = pairs[:, 0], pairs[:, 1]
    ours, theirs = table.vectors(questions), table.vectors(answers)
    query_rows, document_rows = table.rows(questions), table.rows(answers)
    if task.configuration.beta:
        scores = maxsim(ours, query_rows, theirs, document_rows)
    else:
        scores = ours[query_rows.starts[1:] - 1] @ theirs[document_rows.starts[1:] - 1].T
    own = scores.diagonal().clone()
    ignored = task.contrast(questions, answers, scores.device).ignored
    scores = scores.masked_fill(ignored, -torch.inf)
    # An answer that scores the same stands before: a model that gives all the same finds nothing.
    ranks = (scores >= own[:, None]).sum(1).clamp(min=1).double()
    near = ranks <= 10
    return float((near / ranks).mean()), float(near.double().mean()), len(pairs)
