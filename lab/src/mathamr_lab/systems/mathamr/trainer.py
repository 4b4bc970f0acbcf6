"""`LineTrainer`: the sentence encoder learns from judged pairs, by the contrastive loss or by multiple negatives ranking."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from mathamr.core.arrays import IntArray
from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.core.tensorfile import tensor_bytes
from mathamr.text.encoder import PieceBatch, TextEncoder, batch_of, vectors_of
from mathamr_lab.systems.mathamr.judgedlines import JudgedLines, split_by_grade
from mathamr_lab.training.lowrank import changes_of
from mathamr_lab.training.plain import PlainTrainer
from mathamr_lab.training.settings import Ranges, TrainingConfiguration
from mathamr_lab.training.trainer import TrainingSubject, Validation, ValidationFigure

OBJECTIVES = ("contrast", "ranking")
CHANGES = "changes.safetensors"
GROUPS = 4
"""The number of groups of similar length in a step: half of the padding and work of a single group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineTraining(TrainingConfiguration):
    """The training of the encoder: larger batches and fewer epochs than the paper's 16 and 50, because there are fewer judgments.

    Under `contrast` pairs further apart than `margin` cost nothing; under `ranking` cosines are divided by
    `temperature`, as Sentence-BERT's scale of 20 does.
    """

    title: ClassVar[str] = "training of lines"
    ranges: ClassVar[Ranges] = {"margin": (0, 2), "validation": (0, 0.9)}

    objective: str = "contrast"
    batch_size: int = 32
    epochs: int = 6
    margin: float = 0.5
    validation: float = 0.1

    def check(self) -> None:
        """Refuse an unknown objective."""
        if self.objective not in OBJECTIVES:
            raise UnknownNameError("objective", self.objective, list(OBJECTIVES))


@dataclass(frozen=True, slots=True, eq=False)
class LineStep:
    """Queries first, then candidates; `scores` of the pairs; `ignored` marks candidates that are not negatives."""

    lines: PieceBatch
    scores: Tensor
    ignored: Tensor


class LineTrainer(PlainTrainer[LineStep]):
    """Trains the changes of a text encoder whose vectors are means of its states."""

    unit = "pairs"
    pretrained = True
    measured = (ValidationFigure("spearman", "Spearman"),)
    configuration: LineTraining

    def __init__(
        self, encoder: TextEncoder, judged: JudgedLines, configuration: LineTraining, device: torch.device
    ) -> None:
        train, held = split_by_grade(judged.grades, configuration.validation, configuration.seed)
        self.held = judged.take(held)
        learned = judged.take(train)
        if configuration.objective == "ranking":
            learned = learned.take(np.flatnonzero(learned.grades >= 2))
        if len(learned) < 2:
            raise MathAMRError(f"{len(learned)} judged pairs are too few to learn from")
        self.judged, self.encoder = learned, encoder
        super().__init__(encoder.model, len(learned), configuration, device)
        encoder.device = device

    def step(self, batch: IntArray, epoch: int) -> LineStep:
        """The lines of some judgments."""
        chosen = self.judged.take(batch)
        places = np.concatenate([chosen.queries, chosen.candidates])
        same = (chosen.topics[:, None] == chosen.topics[None]) | (
            chosen.candidates[:, None] == chosen.candidates[None]
        )
        np.fill_diagonal(same, False)
        return LineStep(
            batch_of([self.judged.lines[place] for place in places], self.encoder.pieces, GROUPS),
            torch.from_numpy(chosen.scores),
            torch.from_numpy(same),
        )

    def loss(self, step: LineStep) -> Tensor:
        """The contrastive loss (Chopra et al., 2005) or that of multiple negatives ranking (Henderson et al., 2017)."""
        vectors = vectors_of(self.encoder.model, step.lines.to(self.device))
        queries, candidates = vectors.chunk(2)
        if self.configuration.objective == "contrast":
            return contrastive(queries, candidates, step.scores.to(self.device), self.configuration.margin)
        logits = (queries @ candidates.T) / self.configuration.temperature
        logits = logits.masked_fill(step.ignored.to(self.device), -torch.inf)
        return functional.cross_entropy(logits, torch.arange(len(logits), device=self.device))

    def validate(self) -> Validation | None:
        """Returns Spearman's correlation of cosines with the scores of the held-out judgments (seed, section 4)."""
        if len(self.held) < 2:
            return None
        self.model.eval()
        used = np.unique(np.concatenate([self.held.queries, self.held.candidates]))
        rows = self.encoder.encode_pieces([self.held.lines[place] for place in used])
        vectors = np.concatenate([row.vectors for row in rows])
        place = {line: number for number, line in enumerate(used.tolist())}
        ours = vectors[[place[line] for line in self.held.queries.tolist()]]
        theirs = vectors[[place[line] for line in self.held.candidates.tolist()]]
        found = spearman((ours * theirs).sum(1), self.held.scores)
        return Validation(figures={"spearman": found}, searched=len(self.held), worth=found)

    def identity(self) -> dict[str, Any]:
        """Identifies the run."""
        numbers = np.concatenate([self.judged.queries, self.judged.candidates, self.judged.grades])
        return {
            "training": self.configuration.to_json(),
            "materials": zlib.crc32(np.ascontiguousarray(numbers, np.int32).data),
            "base": self.encoder.fingerprint,
        }

    def save(self, folder: Path, about: dict[str, Any]) -> None:
        """Writes the changes in sixteen bits."""
        stored = {
            name: each.to("cpu", torch.float16) for name, each in changes_of(self.encoder.model).items()
        }
        (folder / CHANGES).write_bytes(tensor_bytes(stored))

    def subject(self) -> TrainingSubject:
        """The judgments and the configuration."""
        return TrainingSubject(
            summary=f"learning from {self.count:,} judged pairs by {self.configuration.objective}, validating on {len(self.held):,}",
            monitor="Spearman",
            validation="Validation correlates the cosines of judged pairs with their scores",
            data=[("judged pairs", f"{self.count:,} to learn from, {len(self.held):,} to validate on")],
            configurations={"training": self.configuration.to_json()},
        )


def contrastive(queries: Tensor, candidates: Tensor, scores: Tensor, margin: float) -> Tensor:
    """Returns the mean of s d² + (1 - s) max(0, margin - d)², where d is one minus the cosine; a score of 0.5 pulls and pushes.

    >>> ones = torch.tensor([[1.0, 0.0]])
    >>> float(contrastive(ones, torch.tensor([[0.0, 1.0]]), torch.tensor([1.0]), 0.5))
    1.0
    >>> float(contrastive(ones, ones, torch.tensor([0.0]), 0.5))
    0.25
    """
    apart = 1 - (queries * candidates).sum(-1)
    return (scores * apart**2 + (1 - scores) * (margin - apart).clamp(min=0) ** 2).mean()


def spearman(first: Any, second: Any) -> float:
    """Returns Spearman's rank correlation, with mean ranks for equal values; 0 if one side is constant.

    >>> spearman([1.0, 2.0, 3.0], [0.1, 0.5, 0.3])
    0.5
    """
    ranks = [_ranks(np.asarray(values, np.float64)) for values in (first, second)]
    ours, theirs = (each - each.mean() for each in ranks)
    scale = float(np.sqrt((ours**2).sum() * (theirs**2).sum()))
    return round(float((ours * theirs).sum()) / scale, 12) if scale > 0 else 0.0


def _ranks(values: Any) -> Any:
    _, of, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[of]
