"""Validation of a text encoder: how well validation questions find their answers among all answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from mathamr.core.arrays import AnyFloatArray, IntArray
from mathamr.text.encoder import BUDGET, TextEncoder
from mathamr.text.wordpieces import Pieces
from mathamr_lab.systems.text.corpus import TextCorpus
from mathamr_lab.training.trainer import Validation, ValidationFigure

MEASURED = (
    ValidationFigure("mrr", "MRR@10 of whole posts"),
    ValidationFigure("mrr_maxsim", "MRR@10 by MaxSim"),
)
ASKED = 500
"""The maximum number of validation questions."""
OTHERS = 4000
"""The number of answers among which those of a corpus's validation questions are searched."""


@dataclass(frozen=True, slots=True, eq=False)
class PostVectors:
    """The text vectors of one post: row i belongs to its representative `of[i]`, row `whole` to the complete post."""

    of: npt.NDArray[np.integer]
    vectors: AnyFloatArray
    whole: int


def compared(
    questions: Sequence[PostVectors],
    answers: Sequence[PostVectors],
    documents: IntArray,
    asked: IntArray,
    answered: TextCorpus,
    device: torch.device,
) -> Validation:
    """Return MRR@10 of the answers of the asked pairs among these documents, from the vectors of both."""
    own = np.searchsorted(documents, asked[:, 1])
    ignored = torch.from_numpy(answered.among(asked[:, 0], documents)).to(device)
    ignored[torch.arange(len(own)), torch.from_numpy(own)] = False
    by_whole = _wholes(questions, device) @ _wholes(answers, device).T
    with torch.inference_mode():
        by_parts = _by_parts(questions, answers, device)
    figures = {
        "mrr": _reciprocal(by_whole, own, ignored),
        "mrr_maxsim": _reciprocal(by_parts, own, ignored),
    }
    return Validation(figures=figures, searched=len(documents), worth=sum(figures.values()))


def among_others(documents: IntArray, own: IntArray, others: int = OTHERS) -> IntArray:
    """Return the searched answers and further ones, drawn once for all."""
    rest = np.setdiff1d(documents, own)
    return np.union1d(own, np.random.default_rng(1).permutation(rest)[:others])


def validated(encoder: TextEncoder, corpus: TextCorpus) -> dict[str, float]:
    """Return MRR@10 of the held-out answers of each collection, by complete texts and by MaxSim, as asked and in other letters."""
    answers = np.unique(corpus.pairs[[kind.startswith("answer") for kind in corpus.kinds], 1])
    kinds = np.array(corpus.kinds)
    other = {text: corpus.forms.texts.posts[places[0]] for text, places in corpus.forms.places.items()}
    figures: dict[str, float] = {}
    for kind in sorted(set(kinds[corpus.held].tolist())):
        held = corpus.pairs[corpus.held & (kinds == kind)]
        documents = among_others(answers, held[:, 1])
        known = _vectors(encoder, [corpus.texts.posts[post] for post in documents])
        for form, texts in (("", {}), (" renamed", other)):
            asked = [texts.get(int(post), corpus.texts.posts[post]) for post in held[:ASKED, 0]]
            if form and not any(int(post) in texts for post in held[:ASKED, 0]):
                continue
            found = compared(_vectors(encoder, asked), known, documents, held[:ASKED], corpus, encoder.device)
            name = kind.rpartition(" ")[2]
            figures |= {f"{name}{form} {each}": value for each, value in found.figures.items()}
    return figures


def _vectors(encoder: TextEncoder, posts: Sequence[Pieces]) -> list[PostVectors]:
    budget = BUDGET * (16 if encoder.device.type == "cuda" else 1)
    rows = encoder.encode_pieces(posts, budget)
    return [PostVectors(row.of, row.vectors, len(row.of) - 1) for row in rows]


def _wholes(found: Sequence[PostVectors], device: torch.device) -> Tensor:
    return torch.from_numpy(np.stack([row.vectors[row.whole] for row in found])).to(device)


def _by_parts(
    questions: Sequence[PostVectors], answers: Sequence[PostVectors], device: torch.device
) -> Tensor:
    """Return MaxSim of questions and answers by their parts."""
    documents = torch.from_numpy(np.concatenate([row.vectors for row in answers])).to(device)
    owners = np.repeat(np.arange(len(answers)), [len(row.of) for row in answers])
    of = torch.from_numpy(owners).to(device)
    scores = torch.empty(len(questions), len(answers), device=device)
    for place, row in enumerate(questions):
        similar = torch.from_numpy(row.vectors).to(device) @ documents.T
        best = similar.new_full((len(similar), len(answers)), -1.0)
        best.scatter_reduce_(1, of.expand(len(similar), -1), similar, "amax")
        scores[place] = best.mean(0)
    return scores


def _reciprocal(scores: Tensor, own: IntArray, ignored: Tensor) -> float:
    places = torch.from_numpy(own).to(scores.device)
    target = scores.gather(1, places[:, None])
    better = ((scores > target) & ~ignored).sum(1) + 1
    return float(torch.where(better <= 10, 1 / better, 0.0).mean())
