"""States of words: the text encoder reads a text as the index does, and each word gets the mean of its pieces' states.

Sentences are read in the context of their text, with formulas as LaTeX in place of their placeholders; the windows are those from
which the text encoder makes the vectors of a post, so that nothing is read twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mathamr.amr.builtin.mathematics import is_formula
from mathamr.amr.builtin.words import WordSentence
from mathamr.core.arrays import FloatArray, IntArray
from mathamr.text.configuration import WINDOW, WINDOWS
from mathamr.text.onnxencoder import OnnxTextEncoder
from mathamr.text.signs import with_words
from mathamr.text.wordpieces import PieceNumbers, WordPieces

PLAIN_FORMULA = "x"
"""Stands for a formula whose LaTeX is unknown."""


def written(sentences: Sequence[WordSentence], latex: Mapping[str, str]) -> tuple[str, IntArray]:
    """Return the text of sentences with formulas in place, and where in it each word begins."""
    parts: list[str] = []
    begins: list[int] = []
    at = 0
    for sentence in sentences:
        if parts:
            parts.append(" ")
            at += 1
        done = 0
        for word, (start, end) in zip(sentence.words, sentence.places, strict=True):
            begins.append(at + start - done)
            if is_formula(word):
                shown = f"${' '.join(latex.get(word, PLAIN_FORMULA).split())}$"
                parts += [sentence.text[done:start], shown]
                at += start - done + len(shown)
                done = end
        parts.append(sentence.text[done:])
        at += len(sentence.text) - done
    return "".join(parts), np.array(begins, np.int64)


def word_pieces(
    pieces: WordPieces, sentences: Sequence[WordSentence], latex: Mapping[str, str]
) -> tuple[PieceNumbers, IntArray, IntArray]:
    """Return the pieces of the text of some sentences, and of each word its first piece and how many it has."""
    text, begins = with_words(*written(sentences, latex))
    numbers, places = pieces.places(text)
    first = np.searchsorted(places, begins)
    last = np.append(first[1:], len(numbers))[: len(first)]
    # A word without a piece of its own ("not" in "cannot") shares the piece before it.
    first = np.where(first < last, first, np.maximum(last, 1) - 1)
    return numbers, first, np.maximum(last - first, 1)


def word_states(
    encoder: OnnxTextEncoder,
    mix: Mapping[int, float],
    sentences: Sequence[WordSentence],
    latex: Mapping[str, str],
) -> list[FloatArray]:
    """Return the states of the words of each sentence of one text."""
    numbers, first, lengths = word_pieces(encoder.pieces, sentences, latex)
    cuts = np.cumsum([len(sentence) for sentence in sentences])[:-1]
    if not len(first) or not len(numbers):
        return np.split(np.zeros((len(first), encoder.configuration.size), np.float32), cuts)
    states = np.concatenate(
        [
            # The windows behind the first ones have no vectors.
            encoder.mixed_states(numbers[start : start + WINDOW], mix, keep=start < WINDOW * WINDOWS)
            for start in range(0, len(numbers), WINDOW)
        ]
    )
    means = states[first]
    for step in range(1, int(lengths.max())):
        longer = np.flatnonzero(lengths > step)
        means[longer] += states[first[longer] + step]
    means /= lengths[:, None].astype(np.float32)
    return np.split(means, cuts)
