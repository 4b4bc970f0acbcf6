"""`LineTrainer`: a sentence encoder learns from judged pairs, by the contrastive loss or by multiple negatives ranking."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from mathamr.core.arrays import IntArray
from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.systems.marf.postinput import padded
from mathamr.text.encoder import precision
from mathamr_lab.systems.mathamr.judgedlines import SCORES, JudgedPair, split_by_grade
from mathamr_lab.systems.stateencoder import StateEncoder, plain_line
from mathamr_lab.training.losses import info_nce
from mathamr_lab.training.plain import PlainTrainer
from mathamr_lab.training.settings import Ranges, TrainingConfiguration
from mathamr_lab.training.trainer import Validation, ValidationFigure

OBJECTIVES, MONITORS = ("contrast", "ranking"), ("spearman", "loss")


@dataclass(frozen=True, slots=True, kw_only=True)
class LineTraining(TrainingConfiguration):
    """The training of the encoder by one loss.

    Under `contrast` pairs further apart than `margin` cost nothing; under `ranking` cosines are divided by
    `temperature`, as Sentence-BERT's scale of 20 does, and with `masked` candidates of the same topic are not negatives.
    `monitor` chooses the epoch: the highest correlation, or the lowest loss of held-out pairs as in the paper.
    """

    title: ClassVar[str] = "training of lines"
    ranges: ClassVar[Ranges] = {"margin": (0, 2), "validation": (0, 0.9), "length": (4, 8192)}

    objective: str = "contrast"
    batch_size: int = 32
    epochs: int = 6
    margin: float = 0.5
    validation: float = 0.1
    length: int = 130
    masked: bool = True
    monitor: str = "spearman"

    def check(self) -> None:
        """Refuse an unknown objective or monitor."""
        if self.objective not in OBJECTIVES:
            raise UnknownNameError("objective", self.objective, list(OBJECTIVES))
        if self.monitor not in MONITORS:
            raise UnknownNameError("monitor", self.monitor, list(MONITORS))


@dataclass(frozen=True, slots=True, eq=False)
class LineStep:
    """Tokens of queries first, then of candidates; `scores` of the pairs; `ignored` marks candidates that are not negatives."""

    numbers: Tensor
    lengths: Tensor
    scores: Tensor
    ignored: Tensor


class LineTrainer(PlainTrainer[LineStep]):
    """Trains an encoder whose vectors are means of its states."""

    unit = "pairs"
    pretrained = divides = True
    measured = ValidationFigure("spearman", "Spearman"), ValidationFigure("loss", "held-out loss", loss=True)
    configuration: LineTraining

    def __init__(
        self,
        encoder: StateEncoder,
        judged: Sequence[JudgedPair],
        configuration: LineTraining,
        device: torch.device,
    ) -> None:
        train, held = split_by_grade(
            [pair.grade for pair in judged], configuration.validation, configuration.seed
        )
        self.held = [judged[place] for place in held]
        self.judged = [judged[place] for place in train]
        if configuration.objective == "ranking":
            self.judged = [pair for pair in self.judged if pair.grade >= 2]
        if len(self.judged) < 2:
            raise MathAMRError(f"{len(self.judged)} judged pairs are too few to learn from")
        self.encoder = encoder
        lines = list(dict.fromkeys(line for pair in judged for line in (pair.query, pair.candidate)))
        cut = encoder.numbers([plain_line(line) for line in lines], configuration.length)
        self._tokens = dict(zip(lines, cut, strict=True))
        super().__init__(encoder, len(self.judged), configuration, device)

    def step(self, batch: IntArray, _epoch: int) -> LineStep:
        """Return the lines of some judgments."""
        return self._step([self.judged[place] for place in batch])

    def _step(self, chosen: Sequence[JudgedPair]) -> LineStep:
        lines = [pair.query for pair in chosen] + [pair.candidate for pair in chosen]
        numbers, lengths = padded([self._tokens[line] for line in lines], self.encoder.pad)
        topics = np.array([pair.topic for pair in chosen])
        candidates = np.array([pair.candidate for pair in chosen])
        same = (topics[:, None] == topics[None]) | (candidates[:, None] == candidates[None])
        same &= self.configuration.masked
        np.fill_diagonal(same, False)
        scores = torch.tensor([SCORES[pair.grade] for pair in chosen])
        return LineStep(numbers, lengths, scores, torch.from_numpy(same))

    def first(self, count: int, epoch: int) -> LineStep:
        """Return the first pairs of an epoch's first step."""
        step = self.step(self.plan(epoch)[0], epoch)
        whole = len(step.scores)
        numbers, lengths = (
            torch.cat([each[:count], each[whole : whole + count]]) for each in (step.numbers, step.lengths)
        )
        return LineStep(numbers, lengths, step.scores[:count], step.ignored[:count, :count])

    def loss(self, step: LineStep) -> Tensor:
        """Return the contrastive loss (Chopra et al., 2005) or that of multiple negatives ranking (Henderson et al., 2017)."""
        return self._loss(*self._vectors(step), step)

    def _vectors(self, step: LineStep) -> tuple[Tensor, Tensor]:
        rows = step.numbers.to(self.device), step.lengths.to(self.device)
        queries, candidates = self.in_parts(self._encoded, *rows).chunk(2)
        return queries, candidates

    def _encoded(self, numbers: Tensor, lengths: Tensor) -> Tensor:
        return self.encoder.vectors(self.encoder(numbers, lengths), lengths)

    def _loss(self, queries: Tensor, candidates: Tensor, step: LineStep) -> Tensor:
        if self.configuration.objective == "contrast":
            return contrastive(queries, candidates, step.scores.to(self.device), self.configuration.margin)
        ignored = step.ignored.to(self.device)
        return info_nce(queries @ candidates.T, self.configuration.temperature, ignored)

    @torch.no_grad()
    def validate(self) -> Validation | None:
        """Return Spearman's correlation of cosines with the scores of held-out judgments, and their loss (section 4)."""
        if len(self.held) < 2:
            return None
        self.model.eval()
        # Neighbours are often of one topic, and easy or impossible to tell apart.
        order = np.random.default_rng(self.configuration.seed).permutation(len(self.held))
        held = [self.held[place] for place in order]
        cosines: list[float] = []
        losses: list[float] = []
        for start in range(0, len(held), self.configuration.batch_size):
            step = self._step(held[start : start + self.configuration.batch_size])
            with precision(self.device):
                queries, candidates = self._vectors(step)
            cosines += (queries * candidates).sum(1).tolist()
            if self.configuration.objective == "contrast":
                losses.append(float(self._loss(queries, candidates, step)))
        if self.configuration.objective == "ranking":
            relevant = [pair for pair in held if pair.grade >= 2]
            for start in range(0, len(relevant) - 1, self.configuration.batch_size):
                step = self._step(relevant[start : start + self.configuration.batch_size])
                if len(step.scores) > 1:
                    with precision(self.device):
                        losses.append(float(self._loss(*self._vectors(step), step)))
        found = spearman(cosines, [SCORES[pair.grade] for pair in held])
        loss = float(np.mean(losses)) if losses else 0.0
        worth = found if self.configuration.monitor == "spearman" else -loss
        return Validation(figures={"spearman": found, "loss": loss}, searched=len(held), worth=worth)

    def identity(self) -> dict[str, Any]:
        """Return what identifies the run."""
        lines = "\n".join(f"{pair.query}\t{pair.candidate}\t{pair.grade}" for pair in self.judged)
        return {
            "training": self.configuration.to_json(),
            "materials": zlib.crc32(lines.encode()),
            "base": self.encoder.fingerprint,
        }

    @property
    def summary(self) -> str:
        """One line on the judgments."""
        pairs, objective = f"{self.count:,} judged pairs", self.configuration.objective
        return f"learning from {pairs} by {objective}, validating on {len(self.held):,}"


def contrastive(queries: Tensor, candidates: Tensor, scores: Tensor, margin: float) -> Tensor:
    """Return the mean of s d² + (1 - s) max(0, margin - d)², where d is one minus the cosine; a score of 0.5 pulls and pushes.

    >>> ones = torch.tensor([[1.0, 0.0]])
    >>> float(contrastive(ones, torch.tensor([[0.0, 1.0]]), torch.tensor([1.0]), 0.5))
    1.0
    >>> float(contrastive(ones, ones, torch.tensor([0.0]), 0.5))
    0.25
    """
    apart = 1 - (queries * candidates).sum(-1)
    return (scores * apart**2 + (1 - scores) * (margin - apart).clamp(min=0) ** 2).mean()


def spearman(first: Any, second: Any) -> float:
    """Return Spearman's rank correlation, with mean ranks for equal values; 0 if one side is constant.

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
