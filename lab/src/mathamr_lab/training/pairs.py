"""Pairs of questions and answers: a fixed split, shuffled for every epoch, and which documents answer a question."""

from __future__ import annotations

import numpy as np

from mathamr.core.arrays import AnyArray, BoolArray, IntArray
from mathamr.core.errors import MathAMRError


def split(pairs: IntArray, validation: float, seed: int) -> tuple[IntArray, IntArray]:
    """Split pairs into (training, validation) by a fixed seed; the pairs of one question stay together.

    >>> train, held = split(np.array([[0, 1], [0, 2], [3, 4], [5, 6], [7, 8]]), 0.4, seed=1)
    >>> len(train) + len(held), set(train[:, 0]) & set(held[:, 0])
    (5, set())
    """
    questions, of = np.unique(pairs[:, 0], return_inverse=True)
    order = np.random.default_rng([seed, 0]).permutation(len(questions))
    counts = np.bincount(of, minlength=len(questions))[order]
    wanted = round(validation * len(pairs))
    chosen = np.zeros(len(questions), np.bool_)
    chosen[order[: int(np.searchsorted(np.cumsum(counts), wanted, side="right"))]] = True
    held = chosen[of]
    return pairs[~held], pairs[held]


def batches(count: int, size: int, seed: int, epoch: int) -> list[IntArray]:
    """Return the shuffled pairs of every step of an epoch; a last batch of one pair is left out because it has no negative."""
    order = np.random.default_rng([seed, 1, epoch]).permutation(count)
    steps = [order[start : start + size] for start in range(0, count, size)]
    return [step for step in steps if len(step) > 1]


class Answers:
    """Which documents answer which questions: none of these may be a negative."""

    def __init__(self, pairs: IntArray, posts: int) -> None:
        self._posts = posts
        self._keys = np.unique(pairs[:, 0] * posts + pairs[:, 1])

    def among(self, questions: AnyArray, documents: AnyArray) -> BoolArray:
        """Return for every question and document whether the document answers the question."""
        if not len(self._keys):
            return np.zeros((len(questions), len(documents)), np.bool_)
        wanted = questions.astype(np.int64)[:, None] * self._posts + documents.astype(np.int64)[None, :]
        found = np.searchsorted(self._keys, wanted)
        return np.asarray(self._keys[np.minimum(found, len(self._keys) - 1)] == wanted)


def checked(pairs: IntArray, posts: int) -> IntArray:
    """Return the pairs if all their numbers are posts and there are enough to train on."""
    if len(pairs) < 2:
        raise MathAMRError(f"{len(pairs)} pairs of question and answer are too few to train on")
    if int(pairs.min()) < 0 or int(pairs.max()) >= posts:
        raise MathAMRError(
            f"the pairs refer to posts that are not among the {posts} of the shard; export it again"
        )
    return pairs
