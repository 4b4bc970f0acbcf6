"""`Likeness`: how alike a text encoder finds a question and its candidates, by MaxSim over their parts.

A teacher that needs no training: a large text encoder that has learned the same pairs says of every candidate how near it is, and not only
which one is right.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from mathamr.layers.language.encoder import BUDGET, TextEncoder
from mathamr.systems.cross.training.candidates import Candidates
from mathamr.systems.mathamrplus.training.text.corpus import TextCorpus

MOST_PARTS = 20
"""Parts of a text that are compared, beside the whole."""
AT_A_TIME = 64
SHARPNESSES = (0.01, 0.015, 0.02, 0.03, 0.04, 0.06, 0.1)
"""What cosines are divided by to be scores: the one under which what is right is the likeliest is taken."""


class Likeness:
    """The vectors of the parts of all texts of a corpus."""

    def __init__(self, encoder: TextEncoder, corpus: TextCorpus) -> None:
        self._device = encoder.device
        on_gpu = encoder.device.type == "cuda"
        posts = corpus.numbered_for(encoder.pieces).texts.posts
        rows = encoder.encode_pieces(posts, BUDGET * (16 if on_gpu else 1))
        counts = np.array([len(row.of) for row in rows])
        ends = np.cumsum(counts)
        parts = (ends - counts)[:, None] + np.arange(MOST_PARTS)
        real = parts < ends[:, None] - 1
        places = np.concatenate([np.where(real, parts, 0), ends[:, None] - 1], 1)
        self._places = torch.from_numpy(places).to(self._device)
        self._real = torch.from_numpy(np.pad(real, ((0, 0), (0, 1)), constant_values=True)).to(self._device)
        kind = np.float16 if on_gpu else np.float32
        self._vectors = torch.from_numpy(np.concatenate([row.vectors.astype(kind) for row in rows])).to(
            self._device
        )

    @torch.inference_mode()
    def of(self, lists: Candidates) -> npt.NDArray[np.float32]:
        """MaxSim of every candidate: the mean over the parts of the question of the best cosine in the text."""
        found: list[npt.NDArray[np.float32]] = []
        for start in range(0, len(lists), AT_A_TIME):
            questions, texts = (
                torch.from_numpy(each[start : start + AT_A_TIME]).to(self._device)
                for each in (lists.questions, lists.texts)
            )
            asked, given = self._vectors[self._places[questions]], self._vectors[self._places[texts]]
            cosines = torch.einsum("bqd,bckd->bcqk", asked, given).float()
            best = cosines.masked_fill(~self._real[texts][:, :, None, :], -1.0).amax(-1)
            real = self._real[questions][:, None, :].float()
            found.append(((best * real).sum(-1) / real.sum(-1)).cpu().numpy())
        return np.concatenate(found) if found else np.zeros(lists.texts.shape, np.float32)


def with_lessons(mined: Candidates, held: Candidates, likeness: Likeness) -> tuple[Candidates, float]:
    """Mined candidates with their likeness as scores, as sharp as explains the validation questions best; and how sharp that is."""
    known = held.right >= 0
    judged = torch.from_numpy(likeness.of(held)[known])
    right = torch.from_numpy(held.right[known])
    sharpness = min(
        SHARPNESSES,
        key=lambda each: float(functional.cross_entropy(judged / each, right)) if len(right) else 0.0,
    )
    return replace(mined, scores=(likeness.of(mined) / sharpness).astype(np.float32)), sharpness
