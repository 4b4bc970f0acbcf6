"""`CrossTrainer`: a cross-encoder learns which of a question's candidates is right, or what a larger one thinks of each."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from mathamr.layers.language.crossencoder import CrossEncoder, in_groups
from mathamr.systems.cross.training.candidates import Candidates, rows_of
from mathamr.systems.cross.training.configuration import CrossTraining
from mathamr.systems.mathamrplus.training.text.corpus import TextCorpus
from mathamr.training.pairs import Numbers
from mathamr.training.plain import PlainTrainer
from mathamr.training.trainer import TrainingSubject, Validation, ValidationFigure

MEASURED = (
    ValidationFigure("mrr", "MRR@10 reranked"),
    ValidationFigure("mrr_both", "MRR@10 with the finder's scores"),
    ValidationFigure("mrr_found", "MRR@10 as found"),
)


@dataclass(frozen=True, slots=True, eq=False)
class CrossStep:
    """Rows in groups, where their results stand, and for each question what the teacher says of its texts."""

    groups: list[tuple[Tensor, Tensor]]
    places: Tensor
    taught: Tensor


class CrossTrainer(PlainTrainer[CrossStep]):
    """Trains on lists of candidates of which the first is right; validates on lists that a search found.

    A `teacher` of the same word pieces scores every list as it is read, instead of the scores that the lists have.
    """

    unit = "questions"
    measured = MEASURED

    def __init__(
        self,
        model: CrossEncoder,
        corpus: TextCorpus,
        learned: Candidates,
        held: Candidates,
        configuration: CrossTraining,
        device: torch.device,
        save: Callable[[Path, CrossEncoder], None],
        teacher: CrossEncoder | None = None,
    ) -> None:
        for name, parameter in model.named_parameters():
            parameter.requires_grad_(not name.startswith("text.pieces."))
        super().__init__(model, len(learned), configuration, device)
        self.cross, self.training = model, configuration
        self.texts = corpus.numbered_for(model.pieces).texts.posts
        self.lists, self.held, self._save = learned, held, save
        self.teacher = None if teacher is None else teacher.to(device).eval()

    def identity(self) -> dict[str, Any]:
        """Which run this is."""
        parts = (self.lists.texts, self.lists.scores, self.held.texts)
        return {
            "model": self.cross.text.configuration.to_json(),
            "training": self.training.to_json(),
            "materials": [zlib.crc32(np.ascontiguousarray(part).data) for part in parts],
        }

    def subject(self) -> TrainingSubject:
        """The lists and both configurations."""
        parameters = sum(parameter.numel() for parameter in self.cross.parameters())
        return TrainingSubject(
            summary=f"training on {len(self.lists):,} questions, validating on {len(self.held):,}; {parameters:,} parameters",
            monitor="MRR@10 of what was found, ordered again, with the finder's scores",
            validation="Validation orders again what a finder found for each validation question",
            data=[("questions", f"{len(self.lists):,}, {self.lists.texts.shape[1]} texts each")],
            configurations={
                "model": {**self.cross.text.configuration.to_json(), "parameters": f"{parameters:,}"},
                "training": self.training.to_json(),
            },
        )

    def step(self, batch: Numbers, epoch: int) -> CrossStep:
        """Some candidates of each question, the right one first."""
        chance = self.chance(batch, epoch)
        width = self.lists.texts.shape[1]
        taken = min(self.training.candidates, width)
        columns = np.stack([np.append(0, 1 + chance.permutation(width - 1)[: taken - 1]) for _ in batch])
        texts = np.take_along_axis(self.lists.texts[batch], columns, 1)
        reads = self.training.reads()
        lengths = reads[int(chance.integers(len(reads)))]
        rows = [
            lengths.row(self.texts[question].numbers, self.texts[text].numbers, self.cross.pieces)
            for question, own in zip(self.lists.questions[batch], texts, strict=True)
            for text in own
        ]
        groups, places = in_groups(rows, self.cross.pieces.pad)
        taught = np.take_along_axis(self.lists.scores[batch], columns, 1)
        return CrossStep(groups, places, torch.from_numpy(taught))

    def loss(self, step: CrossStep) -> Tensor:
        """The contrast of the right text with the others, and the divergence from the teacher."""
        scores = self._scores(self.cross, step)
        loss = scores.new_zeros(())
        if self.training.labels:
            target = torch.zeros(len(scores), dtype=torch.long, device=self.device)
            loss = loss + self.training.labels * functional.cross_entropy(scores, target)
        if self.training.lessons:
            taught = functional.log_softmax(self._taught(step), -1)
            loss = loss + self.training.lessons * functional.kl_div(
                functional.log_softmax(scores, -1), taught, reduction="batchmean", log_target=True
            )
        return loss

    def _scores(self, model: CrossEncoder, step: CrossStep) -> Tensor:
        found = torch.cat([model(n.to(self.device), k.to(self.device)) for n, k in step.groups])
        return found[step.places.to(self.device)].view(step.taught.shape)

    def _taught(self, step: CrossStep) -> Tensor:
        if self.teacher is None:
            return step.taught.to(self.device)
        with torch.no_grad():
            return self._scores(self.teacher, step)

    def validate(self) -> Validation | None:
        """MRR@10 of what was found, as it is, ordered again, and by both scores together."""
        if not len(self.held):
            return None
        scores = scored(self.cross, self.held, self.texts)
        found = self.held.scores
        figures = {
            "mrr": reciprocal(scores, self.held.right),
            "mrr_both": reciprocal(standard(scores) + standard(found), self.held.right),
            "mrr_found": reciprocal(found, self.held.right),
        }
        return Validation(figures=figures, searched=found.shape[1], worth=figures["mrr_both"])

    def save(self, folder: Path, about: dict[str, Any]) -> None:
        """Writes the cross-encoder as it is now."""
        self._save(folder, self.cross)


def scored(model: CrossEncoder, lists: Candidates, texts: Any) -> npt.NDArray[np.float32]:
    """A cross-encoder's score of every candidate."""
    rows = [model.row(question, text) for question, text in rows_of(lists, texts)]
    return model.scored(rows).cpu().numpy().reshape(lists.texts.shape)


def standard(scores: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Scores in standard deviations from the mean of their row."""
    spread = scores.std(1, keepdims=True)
    return np.asarray((scores - scores.mean(1, keepdims=True)) / np.maximum(spread, 1e-6))


def reciprocal(scores: npt.NDArray[np.float32], right: npt.NDArray[np.int64]) -> float:
    """MRR@10 of the right column; what was not found counts nothing.

    >>> reciprocal(np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]], np.float32), np.array([0, 1, -1]))
    0.5
    """
    if not len(right):
        return 0.0
    own = np.take_along_axis(scores, np.maximum(right, 0)[:, None], 1)
    places = (scores > own).sum(1) + 1
    return float(np.where((right >= 0) & (places <= 10), 1 / places, 0.0).mean())
