"""Validation of a model: its loss on the validation pairs, and how well questions find their own answers."""

from __future__ import annotations

import numpy as np
import torch

from mathamr.core.arrays import IntArray
from mathamr.systems.layers.batch import GraphBatch
from mathamr_lab.systems.mathamrplus.graph.pairs import GraphPairs
from mathamr_lab.training.contrastive import ContrastiveTrainer
from mathamr_lab.training.maxsim import VectorRows, maxsim
from mathamr_lab.training.trainer import Validation, ValidationFigure

SEARCHED = 1000
"""The maximum number of pairs whose questions are searched among their answers."""


MEASURED = (
    ValidationFigure("loss", "validation loss", loss=True),
    ValidationFigure("mrr", "MRR@10"),
    ValidationFigure("recall", "recall@10"),
)


class _Table:
    """The vectors of some posts by their numbers."""

    def __init__(self, trainer: ContrastiveTrainer[GraphBatch], pairs: GraphPairs, posts: IntArray) -> None:
        self._counts = np.diff(pairs.shard.starts["reps"])
        self._posts, self._device = posts, trainer.device
        self._vectors = trainer.encoded(pairs.plain(posts))
        self._begins = np.cumsum(self._counts[posts]) - self._counts[posts]

    def vectors(self, numbers: IntArray) -> torch.Tensor:
        """Return the vectors of these posts, end to end."""
        places = np.searchsorted(self._posts, numbers)
        counts = self._counts[numbers]
        within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        rows = np.repeat(self._begins[places], counts) + within
        return self._vectors.index_select(0, torch.from_numpy(rows).to(self._device))

    def rows(self, numbers: IntArray) -> VectorRows:
        """Return which of these vectors belong to which post."""
        return VectorRows.of(self._counts[numbers], self._device)


def validate(trainer: ContrastiveTrainer[GraphBatch], pairs: GraphPairs) -> Validation | None:
    """Measure the network on the validation pairs, searching among at most `SEARCHED`; None if there are none."""
    if len(pairs.validation) < 2:
        return None
    table = _Table(trainer, pairs, np.unique(pairs.validation))
    with torch.inference_mode():
        loss = _loss(trainer, pairs, table)
        mrr, recall, searched = _search(pairs, table)
    worth = -loss if pairs.configuration.monitor == "loss" else mrr
    return Validation(figures={"loss": loss, "mrr": mrr, "recall": recall}, searched=searched, worth=worth)


def _loss(trainer: ContrastiveTrainer[GraphBatch], pairs: GraphPairs, table: _Table) -> float:
    size, total, count = pairs.configuration.batch_size, 0.0, 0
    for start in range(0, len(pairs.validation), size):
        batch = pairs.validation[start : start + size]
        if len(batch) < 2:
            break
        questions, answers = batch[:, 0], batch[:, 1]
        contrast = pairs.contrast(questions, answers, trainer.device)
        loss = trainer.loss(table.vectors(questions), table.vectors(answers), contrast)
        total, count = total + float(loss) * len(batch), count + len(batch)
    return total / count


def _search(pairs: GraphPairs, table: _Table) -> tuple[float, float, int]:
    """Return (MRR@10, recall@10, searched): each question searches all the answers, without its other answers."""
    chosen = pairs.validation[:SEARCHED]
    questions, answers = chosen[:, 0], chosen[:, 1]
    ours, theirs = table.vectors(questions), table.vectors(answers)
    query_rows, document_rows = table.rows(questions), table.rows(answers)
    if pairs.configuration.beta:
        scores = maxsim(ours, query_rows, theirs, document_rows)
    else:
        scores = ours[query_rows.starts[1:] - 1] @ theirs[document_rows.starts[1:] - 1].T
    own = scores.diagonal().clone()
    ignored = pairs.contrast(questions, answers, scores.device).ignored
    scores = scores.masked_fill(ignored, -torch.inf)
    # Answers with the same score come first, so that a network with constant scores finds nothing.
    ranks = (scores >= own[:, None]).sum(1).clamp(min=1).double()
    near = ranks <= 10
    return float((near / ranks).mean()), float(near.double().mean()), len(chosen)
