"""Hard negatives: documents that are near a question and are not its answer, found by a model and by their words.

A document that the model finds almost as near as the answer is often an answer too, only unmarked: those are left out
(de Souza P. Moreira et al., "NV-Retriever", 2024). Words are counted as BM25 does, over word pieces: what shares rare
pieces with a question but means something else is what a model of meanings has to learn to leave.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from mathamr.core.arrays import BoolArray, IntArray
from mathamr.text.wordpieces import Pieces

POOL = 24
"""The nearest documents, in either manner, from which negatives are drawn."""
SPARED = 0.95
"""A document whose similarity is at least this share of the answer's may be an answer itself."""
AT_A_TIME = 1024
"""Questions that are compared with all documents at a time."""
SATURATION, LENGTH = 0.9, 0.4
"""BM25's k1 and b."""


class Miner:
    """Finds negatives for questions among documents: by chance among those near in meaning or those near in words."""

    def __init__(
        self, questions: Sequence[Pieces], documents: Sequence[Pieces], device: torch.device, pool: int = POOL
    ) -> None:
        self._questions, self._pool = questions, min(pool, len(documents))
        self._pieces = 1 + max((int(text.numbers.max()) for text in (*questions, *documents)), default=0)
        self._words = piece_weights(documents, self._pieces).to(device)

    def mined(
        self,
        questions: Tensor,
        documents: Tensor,
        own: IntArray,
        together: Callable[[IntArray], BoolArray],
        count: int,
        chance: np.random.Generator,
    ) -> IntArray:
        """For every question so many documents by place; -1 where there is none.

        `questions` and `documents` are vectors, `own` is the place of each question's answer; `together` says for some
        questions which documents belong to them and are no negatives.
        """
        found = np.full((len(questions), count), -1, np.int64)
        for begin in range(0, len(questions), AT_A_TIME):
            places = np.arange(begin, min(begin + AT_A_TIME, len(questions)))
            similar = questions[begin : begin + AT_A_TIME].float() @ documents.float().T
            nearest = similar.gather(1, torch.from_numpy(own[places]).to(similar.device)[:, None])
            barred = torch.from_numpy(together(places)).to(similar.device) | (similar >= SPARED * nearest)
            pools = np.stack([self._nearest(scores, barred) for scores in (similar, self._shared(places))])
            shape = len(places), count
            manner, rank = chance.integers(0, 2, shape), chance.integers(0, self._pool, shape)
            found[places] = pools[manner, np.arange(len(places))[:, None], rank]
        return found

    def _nearest(self, scores: Tensor, barred: Tensor) -> IntArray:
        """The documents with the highest scores, -1 for those that are barred or share nothing."""
        best = scores.masked_fill(barred, -torch.inf).topk(self._pool)
        return torch.where(best.values > 0, best.indices, -1).cpu().numpy()

    def _shared(self, places: IntArray) -> Tensor:
        """BM25 of some questions and all documents."""
        asked = np.zeros((self._pieces, len(places)), np.float32)
        for column, place in enumerate(places):
            asked[self._questions[place].numbers, column] = 1.0
        return (self._words @ torch.from_numpy(asked).to(self._words.device)).T


def piece_weights(texts: Sequence[Pieces], pieces: int) -> Tensor:
    """BM25's weight of every word piece in every text, a sparse row a text."""
    counted = [np.unique(text.numbers, return_counts=True) for text in texts]
    frequencies = np.zeros(pieces, np.int64)
    for present, _ in counted:
        frequencies[present] += 1
    rarity = np.log1p((len(texts) - frequencies + 0.5) / (frequencies + 0.5))
    mean = max(1.0, float(np.mean([len(text) for text in texts])))
    values = [
        rarity[present]
        * counts
        * (SATURATION + 1)
        / (counts + SATURATION * (1 - LENGTH + LENGTH * len(text) / mean))
        for text, (present, counts) in zip(texts, counted, strict=True)
    ]
    rows = np.repeat(np.arange(len(texts)), [len(present) for present, _ in counted])
    columns = np.concatenate([present for present, _ in counted]).astype(np.int64)
    return torch.sparse_coo_tensor(
        torch.from_numpy(np.stack([rows, columns])),
        torch.from_numpy(np.concatenate(values).astype(np.float32)),
        (len(texts), pieces),
        is_coalesced=True,
        check_invariants=False,
    )
