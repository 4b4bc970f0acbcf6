"""`SentenceEncoder`: one vector per line of text, the mean of a transformer's states (Mansouri, Oard and Zanibbi 2022, section 4)."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.text.encoder import TextEncoder
from mathamr.text.wording import Span, Wording
from mathamr.text.wordpieces import PieceNumbers, Pieces, WordPieces


def line_pieces(lines: Sequence[str], pieces: WordPieces, length: int) -> list[Pieces]:
    """Return the word pieces of lines; italic and other mathematical letters, as OPTs have them, become plain ones first.

    A line without any piece becomes the unknown piece.
    """
    texts = [unicodedata.normalize("NFKC", line).strip() or "?" for line in lines]
    wordings = [Wording(text, (Span(0, 0, len(text)),)) for text in texts]
    return [whole(each.numbers[:length]) for each in pieces.cut(wordings)]


def whole(numbers: PieceNumbers) -> Pieces:
    """Return pieces with one span over all of them."""
    end = np.array([len(numbers)], np.int32)
    zero = np.zeros(1, np.int32)
    return Pieces(numbers, zero, zero, end)


class SentenceEncoder:
    """Encodes lines with a text encoder that averages its states to unit vectors."""

    def __init__(self, encoder: TextEncoder, length: int) -> None:
        self.encoder, self.length = encoder, length
        self.size = encoder.size

    def encode(self, lines: Sequence[str]) -> FloatArray:
        """Return the vectors of lines, in order; a line that occurs twice is encoded once."""
        known = list(dict.fromkeys(lines))
        if not known:
            return np.zeros((0, self.size), np.float32)
        cut = line_pieces(known, self.encoder.pieces, self.length)
        found = {
            line: row.vectors[0] for line, row in zip(known, self.encoder.encode_pieces(cut), strict=True)
        }
        return np.stack([found[line] for line in lines])
