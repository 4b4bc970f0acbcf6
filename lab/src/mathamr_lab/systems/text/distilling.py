"""Distillation: a small encoder learns the similarities of a large one, with or without labels.

Everything is measured inside a batch of neighbours, so that the comparisons are hard: how MaxSim ranks the documents for
every question, how complete texts and how parts of texts resemble each other (as in Hinton et al., 2015, by the divergence of the two
distributions); and the student's vectors, mapped linearly, should have the direction of the teacher's.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from mathamr.core.arrays import IntArray
from mathamr.core.configured import Configured
from mathamr.core.errors import MathAMRError
from mathamr.text.encoder import BUDGET, PieceBatch, TextEncoder
from mathamr_lab.systems.text.corpus import TextCorpus
from mathamr_lab.systems.text.trainer import TextTrainer
from mathamr_lab.systems.text.training import TextTraining
from mathamr_lab.training.contrastive import ContrastiveStep
from mathamr_lab.training.losses import Contrast, TemperedLoss, alike, divergence, info_nce
from mathamr_lab.training.maxsim import VectorRows, maxsim, there
from mathamr_lab.training.settings import Ranges


@dataclass(frozen=True, slots=True, kw_only=True)
class Distilling(Configured):
    """The weights of what a student learns from its teacher.

    `ranking` is MaxSim of questions and documents, `wholes` the similarity of complete texts, `parts` that of `drawn` random
    parts, `vectors` the teacher's own vectors; `labels` weighs the contrast of the pairs, without a teacher. `sharpness`
    is the temperature of the teacher's distributions and of the student's. `anchor` keeps the vectors of texts that are read in
    their own letters near those of the encoder that training starts from.
    """

    title = "distilling"
    ranges: ClassVar[Ranges] = {
        **dict.fromkeys(("ranking", "wholes", "parts", "vectors", "labels", "anchor"), (0.0, 1e3)),
        "drawn": (2, 1e6),
        "sharpness": (1e-3, 10),
    }

    ranking: float = 1.0
    wholes: float = 1.0
    parts: float = 0.5
    vectors: float = 1.0
    labels: float = 0.1
    anchor: float = 0.0
    drawn: int = 2048
    sharpness: float = 0.04


@dataclass(frozen=True, slots=True, eq=False)
class Lesson(Contrast):
    """A step with the teacher's rows for the vectors of its questions and documents, and the parts to compare.

    The teacher has read every text in its own letters. It knows no foils: `taught_rows` are the documents without them.
    `plain` are the rows of texts that the student reads in their own letters too.
    """

    taught: Tensor | None = None
    plain: Tensor | None = None
    drawn: Tensor | None = None
    taught_rows: VectorRows | None = None


class DistillingLoss(TemperedLoss):
    """The distance of a student's similarities and vectors from its teacher's."""

    def __init__(
        self,
        configuration: Distilling,
        temperature: float,
        size: int,
        teacher: Tensor,
        start: Tensor | None = None,
    ) -> None:
        super().__init__(temperature)
        self.configuration, self._start = configuration, (start,)
        self.map = nn.Linear(size, teacher.shape[1], bias=False)
        nn.init.orthogonal_(self.map.weight)
        self._teacher = (teacher,)

    def forward(self, queries: Tensor, documents: Tensor, lesson: Lesson) -> Tensor:
        """Return the loss of a step from the student's vectors of its questions and documents."""
        assert lesson.taught is not None
        assert lesson.drawn is not None
        assert lesson.taught_rows is not None
        assert lesson.query_documents is not None
        assert lesson.document_documents is not None
        weights, asked = self.configuration, len(queries)
        taught = self._teacher[0].index_select(0, lesson.taught).float()
        known = len(lesson.taught_rows.counts)
        given = torch.cat([queries, documents[: len(taught) - asked]])
        ranked = maxsim(queries, lesson.query_rows, documents, lesson.document_rows)
        with torch.no_grad():
            wanted = maxsim(taught[:asked], lesson.query_rows, taught[asked:], lesson.taught_rows)
        loss = weights.ranking * divergence(ranked[:, :known], wanted, weights.sharpness)
        wholes = torch.cat([lesson.query_documents, lesson.document_documents[:known] + asked])
        loss = loss + weights.wholes * self._alike(given, taught, wholes)
        loss = loss + weights.parts * self._alike(given, taught, lesson.drawn)
        if weights.vectors:
            mapped = functional.cosine_similarity(self.map(given), taught, dim=-1)
            loss = loss + weights.vectors * (1 - mapped).mean()
        if self._start[0] is not None:
            assert lesson.plain is not None
            before = self._start[0].index_select(0, lesson.taught.index_select(0, lesson.plain)).float()
            kept = functional.cosine_similarity(given.index_select(0, lesson.plain), before, dim=-1)
            loss = loss + weights.anchor * (1 - kept).mean()
        if weights.labels:
            whole = queries.index_select(0, lesson.query_documents)
            whole = whole @ documents.index_select(0, lesson.document_documents).T
            labels = [info_nce(scores, self.temperature, lesson.ignored) for scores in (ranked, whole)]
            loss = loss + weights.labels * sum(labels) / 2
        return loss

    def _alike(self, ours: Tensor, theirs: Tensor, rows: Tensor) -> Tensor:
        return alike(ours.index_select(0, rows), theirs.index_select(0, rows), self.configuration.sharpness)


class DistillingTrainer(TextTrainer):
    """Trains a student on a corpus with a teacher's vectors, span by span in its order."""

    def __init__(
        self,
        corpus: TextCorpus,
        base: TextEncoder,
        configuration: TextTraining,
        lessons: Distilling,
        teacher: npt.NDArray[np.float16],
        device: torch.device,
    ) -> None:
        counts = np.array([len(post.of) for post in corpus.texts.posts])
        if counts.sum() != len(teacher):
            raise MathAMRError(
                f"the teacher has {len(teacher)} vectors, the corpus {counts.sum()} parts of texts"
            )
        self._starts = np.cumsum(counts) - counts
        self._taught = torch.from_numpy(np.ascontiguousarray(teacher)).to(device)
        self._checksum = zlib.crc32(np.ascontiguousarray(teacher[:: max(1, len(teacher) // 1000)]).data)
        self.lessons, self._start = lessons, None
        if lessons.anchor:
            if configuration.projection:
                raise MathAMRError("an anchor needs the states of the start: set projection=0")
            self._start = torch.from_numpy(corpus_vectors(base, corpus)).to(device)
        super().__init__(corpus, base, configuration, device)

    def _loss(self) -> TemperedLoss:
        return DistillingLoss(
            self.lessons, self.configuration.temperature, self.encoder.size, self._taught, self._start
        )

    def _likened(self, posts: IntArray) -> Tensor:
        rows = torch.from_numpy(self._starts[posts] + self.whole[posts]).to(self.device)
        return self._taught.index_select(0, rows).float()

    def step(self, batch: IntArray, epoch: int) -> ContrastiveStep[PieceBatch]:
        """Return the word pieces of a batch, and the rows of the teacher's vectors for them."""
        made = super().step(batch, epoch)
        chosen, posts, foils = self.read(batch, epoch)
        known = len(chosen) - foils
        rows = np.concatenate(
            [
                self._starts[number] + np.searchsorted(self.texts.posts[number].of, post.of)
                for number, post in zip(chosen[:known], posts[:known], strict=True)
            ]
        )
        plain = np.repeat(
            [post is self.texts.posts[number] for number, post in zip(chosen, posts, strict=True)][:known],
            [len(post.of) for post in posts[:known]],
        )
        generator = np.random.default_rng([self.configuration.seed, 3, epoch, int(batch[0])])
        drawn = generator.permutation(len(rows))[: self.lessons.drawn]
        fields = {name: getattr(made.contrast, name) for name in Contrast.__slots__}
        counts = np.array([len(post.of) for post in posts[len(batch) : known]])
        lesson = Lesson(
            **fields,
            taught=there(rows, self.device),
            plain=there(np.flatnonzero(plain), self.device),
            drawn=there(drawn, self.device),
            taught_rows=VectorRows.of(counts, self.device),
        )
        return replace(made, contrast=lesson)

    def identity(self) -> dict[str, Any]:
        """Return what identifies the run."""
        return {**super().identity(), "distilling": self.lessons.to_json(), "teacher": self._checksum}


def corpus_vectors(encoder: TextEncoder, corpus: TextCorpus) -> npt.NDArray[np.float16]:
    """Return an encoder's vectors of all parts of a corpus, in sixteen bits."""
    found = encoder.encode_pieces(corpus.texts.posts, BUDGET * (16 if encoder.device.type == "cuda" else 1))
    return np.concatenate([row.vectors.astype(np.float16) for row in found])


def taught(teacher: TextEncoder, corpus: TextCorpus, path: Path) -> None:
    """Write the teacher's vectors of all parts of a corpus."""
    np.save(path, corpus_vectors(teacher, corpus), allow_pickle=False)


def read_taught(path: Path) -> npt.NDArray[np.float16]:
    """Read the vectors that `taught` wrote."""
    try:
        rows = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise MathAMRError(f"{path} does not hold vectors of a teacher, or it is damaged: {error}") from error
    if rows.ndim != 2 or rows.dtype != np.float16:
        raise MathAMRError(f"{path} does not hold vectors of a teacher")
    return np.asarray(rows)
