from __future__ import annotations

import math
from collections import Counter

import numpy as np
import torch

from mathamr.core.arrays import BoolArray, DoubleArray
from mathamr.text.wordpieces import Pieces
from mathamr_lab.systems.mathamrplus.text.mining import LENGTH, SATURATION, SPARED, Miner, piece_weights

CPU = torch.device("cpu")
PIECES = 50


def texts(count: int, seed: int) -> list[Pieces]:
    draw = np.random.default_rng(seed)
    one = np.zeros(1, np.int32)
    found = []
    for _ in range(count):
        numbers = draw.integers(0, PIECES, draw.integers(3, 12)).astype(np.uint16)
        found.append(Pieces(numbers, one, one, one + len(numbers)))
    return found


def bm25(question: Pieces, document: Pieces, documents: list[Pieces]) -> float:
    """As in the textbook, with a question's pieces counted once."""
    mean = sum(map(len, documents)) / len(documents)
    counts, total = Counter(document.numbers.tolist()), 0.0
    for piece in set(question.numbers.tolist()):
        having = sum(piece in each.numbers for each in documents)
        rarity = math.log(1 + (len(documents) - having + 0.5) / (having + 0.5))
        often = counts[piece]
        total += (
            rarity
            * often
            * (SATURATION + 1)
            / (often + SATURATION * (1 - LENGTH + LENGTH * len(document) / mean))
        )
    return total


def test_words_are_weighed_as_by_bm25() -> None:
    questions, documents = texts(5, 1), texts(20, 2)
    weights = piece_weights(documents, PIECES).to_dense().numpy()
    for question in questions:
        asked = np.isin(np.arange(PIECES), question.numbers)
        wanted = [bm25(question, document, documents) for document in documents]
        np.testing.assert_allclose(weights @ asked, wanted, rtol=1e-5)


def test_negatives_are_near_in_meaning_or_in_words_and_neither_answers_nor_nearly_so() -> None:
    draw = np.random.default_rng(3)
    questions, documents = texts(24, 4), texts(24, 5)
    vectors = torch.nn.functional.normalize(torch.from_numpy(draw.random((48, 6)).astype(np.float32)), dim=-1)
    asked, found_in = vectors[:24], vectors[24:]
    own = draw.integers(0, 24, 24)
    together = draw.random((24, 24)) < 0.1
    pool = 4
    mined = Miner(questions, documents, CPU, pool).mined(
        asked, found_in, own, lambda some: together[some], 6, np.random.default_rng(0)
    )
    similar = (asked @ found_in.T).numpy()
    words = np.array([[bm25(q, d, documents) for d in documents] for q in questions])
    seen = {"meaning": 0, "words": 0}
    for place, row in enumerate(mined):
        barred = together[place] | (similar[place] >= SPARED * similar[place, own[place]])
        assert barred[own[place]]
        manners = {"meaning": similar[place], "words": words[place]}
        least = {name: _last(scores, barred, pool) for name, scores in manners.items()}
        for document in row[row >= 0]:
            assert not barred[document]
            near = [name for name, scores in manners.items() if scores[document] >= least[name] - 1e-6]
            assert near
            if len(near) == 1:
                seen[near[0]] += 1
        if barred.all():
            assert (row == -1).all()
    assert min(seen.values()) > 10


def _last(scores: DoubleArray, barred: BoolArray, count: int) -> float:
    """The score of the last of so many nearest documents."""
    left = np.sort(scores[~barred & (scores > 0)])[::-1]
    return float(left[:count][-1]) if len(left) else math.inf
