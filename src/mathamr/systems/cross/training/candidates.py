"""`Candidates`: for every question the texts that a search would find, the right one first: what is easily mistaken for it.

Found on the training pairs alone: by the vectors of whole texts, and by the word pieces that a question and a text share (BM25).
"""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from mathamr.errors import MathAMRError
from mathamr.layers.language.encoder import BUDGET, TextEncoder
from mathamr.layers.language.wordpieces import Pieces
from mathamr.systems.mathamrplus.training.text.corpus import TextCorpus
from mathamr.training.pairs import Pairs

AT_A_TIME = 512
SATURATION, LENGTH = 1.2, 0.75
"""BM25's k and b."""
VALIDATED, AMONG = 30, 4000
"""Texts that are ordered again for a validation question, and texts that they are found among, drawn once for all."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Row i: a question, its texts (the right one first where it was not looked for), and what each scored.

    `right` is the column of the right text, -1 where it was not found.
    """

    questions: npt.NDArray[np.int64]
    texts: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float32]
    right: npt.NDArray[np.int64]

    def __post_init__(self) -> None:
        rows = len(self.questions)
        if self.texts.shape != self.scores.shape or len(self.texts) != rows or len(self.right) != rows:
            raise MathAMRError("candidates need a score for every text, and a row of them for every question")

    def __len__(self) -> int:
        return len(self.questions)

    def drawn(self, count: int, seed: int) -> Candidates:
        """So many of the questions, by chance; all of them where `count` is 0."""
        if not count or count >= len(self):
            return self
        kept = np.sort(np.random.default_rng([seed, 11]).permutation(len(self))[:count])
        return Candidates(self.questions[kept], self.texts[kept], self.scores[kept], self.right[kept])

    def repeated(self, times: npt.NDArray[np.int64]) -> Candidates:
        """Every question so many times."""
        rows = np.repeat(np.arange(len(self)), times)
        return Candidates(self.questions[rows], self.texts[rows], self.scores[rows], self.right[rows])

    def save(self, path: Path) -> None:
        """One `.npz` without pickles."""
        with path.open("wb") as file:
            np.savez_compressed(
                file,
                allow_pickle=False,
                questions=self.questions.astype(np.int32),
                texts=self.texts.astype(np.int32),
                scores=self.scores.astype(np.float32),
                right=self.right.astype(np.int32),
            )

    @classmethod
    def load(cls, path: Path) -> Candidates:
        """The inverse of `save`."""
        try:
            with np.load(path, allow_pickle=False) as file:
                return cls(
                    file["questions"].astype(np.int64),
                    file["texts"].astype(np.int64),
                    file["scores"].astype(np.float32),
                    file["right"].astype(np.int64),
                )
        except (OSError, ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile) as error:
            raise MathAMRError(
                f"{path} holds no candidates of a search, or it is damaged; do the stage `mine` first: {error}"
            ) from error


class Finder:
    """Finds texts of a corpus for questions of it, by vectors and by shared pieces."""

    def __init__(self, encoder: TextEncoder, corpus: TextCorpus) -> None:
        self.corpus, self.device = corpus, encoder.device
        posts = [post.only(len(post.of) - 1) for post in corpus.numbered_for(encoder.pieces).texts.posts]
        budget = BUDGET * (16 if encoder.device.type == "cuda" else 1)
        rows = encoder.encode_pieces(posts, budget)
        self.vectors = torch.from_numpy(np.concatenate([row.vectors for row in rows])).to(self.device)
        self._counts = [np.unique(post.numbers, return_counts=True) for post in corpus.texts.posts]

    def mined(self, pairs: Pairs, found: int) -> Candidates:
        """For every training pair its right text, then what else was found, of other groups: by vectors, then by pieces."""
        texts = np.unique(pairs[:, 1])
        weights = self._weights(texts)
        rows: list[npt.NDArray[np.int64]] = []
        for start in range(0, len(pairs), AT_A_TIME):
            some = pairs[start : start + AT_A_TIME]
            same = torch.from_numpy(self.corpus.among(some[:, 0], texts)).to(self.device)
            by_vectors = self._alike(some[:, 0], texts).masked_fill(same, -1e9)
            by_pieces = self._shared(some[:, 0], weights).masked_fill(same, -1e9)
            best = torch.cat([by_vectors.topk(found).indices, by_pieces.topk(found).indices], 1).cpu().numpy()
            rows += [_distinct(row, found) for row in texts[best]]
        chosen = np.concatenate([pairs[:, 1:], np.stack(rows)], 1)
        return Candidates(
            pairs[:, 0], chosen, np.zeros(chosen.shape, np.float32), np.zeros(len(pairs), np.int64)
        )

    def searched(self, pairs: Pairs, most: int = VALIDATED) -> Candidates:
        """For every validation pair the best of the validation texts and others, with the finder's scores; other right ones are left out."""
        rest = np.setdiff1d(np.unique(self.corpus.pairs[:, 1]), pairs[:, 1])
        drawn = np.random.default_rng(1).permutation(rest)[:AMONG]
        texts = np.union1d(np.unique(pairs[:, 1]), drawn)
        same = self.corpus.among(pairs[:, 0], texts) & (texts[None] != pairs[:, 1:])
        alike = self._alike(pairs[:, 0], texts).masked_fill(torch.from_numpy(same).to(self.device), -1.0)
        best = alike.topk(min(most, len(texts)))
        chosen = texts[best.indices.cpu().numpy()]
        is_right = chosen == pairs[:, 1:]
        right = np.where(is_right.any(1), is_right.argmax(1), -1)
        return Candidates(pairs[:, 0], chosen, best.values.cpu().numpy().astype(np.float32), right)

    def _alike(self, questions: npt.NDArray[np.int64], texts: npt.NDArray[np.int64]) -> Tensor:
        return self.vectors[torch.from_numpy(questions)] @ self.vectors[torch.from_numpy(texts)].T

    def _weights(self, texts: npt.NDArray[np.int64]) -> Tensor:
        """What every piece of every text counts for BM25: (pieces, texts), in sixteen bits on a GPU."""
        size = 1 + max(int(self._counts[text][0].max(initial=0)) for text in range(len(self._counts)))
        kind = torch.float16 if self.device.type == "cuda" else torch.float32
        lengths = np.array([self._counts[text][1].sum() for text in texts], np.float32)
        spread = SATURATION * (1 - LENGTH + LENGTH * lengths / max(1.0, float(lengths.mean())))
        places = np.concatenate([self._counts[text][0] for text in texts]).astype(np.int64)
        owners = np.repeat(np.arange(len(texts)), [len(self._counts[text][0]) for text in texts])
        often = np.concatenate([self._counts[text][1] for text in texts]).astype(np.float32)
        holding = np.bincount(places, minlength=size)
        rare = np.log1p((len(texts) - holding + 0.5) / (holding + 0.5)).astype(np.float32)
        value = rare[places] * often * (SATURATION + 1) / (often + spread[owners])
        made = torch.zeros(size, len(texts), dtype=kind, device=self.device)
        made[torch.from_numpy(places), torch.from_numpy(owners)] = (
            torch.from_numpy(value).to(kind).to(self.device)
        )
        return made

    def _shared(self, questions: npt.NDArray[np.int64], weights: Tensor) -> Tensor:
        asked = torch.zeros(len(questions), len(weights), dtype=weights.dtype, device=self.device)
        for row, question in enumerate(questions):
            asked[row, torch.from_numpy(self._counts[question][0].astype(np.int64)).to(self.device)] = 1
        return (asked @ weights).float()


def _distinct(row: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int64]:
    """Both halves by turns, each text once, so many of them."""
    both = row.reshape(2, -1).T.flatten()
    _, first = np.unique(both, return_index=True)
    return both[np.sort(first)][:count]


def rows_of(
    lists: Candidates, texts: Sequence[Pieces]
) -> list[tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint16]]]:
    """Question and text of every candidate, row by row."""
    return [
        (texts[question].numbers, texts[text].numbers)
        for question, own in zip(lists.questions, lists.texts, strict=True)
        for text in own
    ]
