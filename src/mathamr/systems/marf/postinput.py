"""`PostInput`: a post as MaRF reads it: the word pieces of its text, and the tokens of its longest formulas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from mathamr.core.errors import MathAMRError
from mathamr.core.storage.plainfiles import read_description
from mathamr.posts.post import Formula, Post
from mathamr.systems.marf.latextokens import latex_tokens
from mathamr.systems.marf.mathtokens import MathTokens
from mathamr.text.wording import Span, Wording, written_sentences
from mathamr.text.wordpieces import PieceNumbers, WordPieces

PAD, UNKNOWN = "[PAD]", "[UNK]"
FUSED = 6
"""The number of formulas of a post that are kept, the longest ones: no more are fused."""
MOST_FORMULAS = 300
"""The longest formulas are chosen among this many at the start of a post; later ones are ignored."""


@dataclass(frozen=True, slots=True, eq=False)
class PostInput:
    """Word pieces, with start and end marks, and formulas with their tokens, the longest first.

    `sentences` has the number of each piece's sentence; training does not need it.
    """

    numbers: PieceNumbers
    formulas: tuple[tuple[str, PieceNumbers], ...] = ()
    sentences: PieceNumbers = field(default_factory=lambda: np.zeros(0, np.uint16))


class LatexVocabulary:
    """Numbers of normalised LaTeX tokens; all unknown tokens share one number."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens = tuple(tokens)
        if (
            self.tokens[:2] != (PAD, UNKNOWN)
            or len(set(self.tokens)) != len(self.tokens)
            or len(self) > 2**16
        ):
            raise MathAMRError(f"these {len(self.tokens)} lines are not a vocabulary of LaTeX tokens")
        self._number = {token: place for place, token in enumerate(self.tokens)}

    def __len__(self) -> int:
        return len(self.tokens)

    def numbers(self, latex: str, length: int) -> PieceNumbers:
        """The numbers of a formula's first tokens."""
        found = [self._number.get(token, 1) for token in latex_tokens(latex)[:length]]
        return np.array(found, np.uint16)

    @classmethod
    def frequent(cls, formulas: Iterable[str], most: int, least: int) -> LatexVocabulary:
        """Returns the `most` frequent of the tokens that occur at least `least` times."""
        counts = Counter(token for latex in formulas for token in latex_tokens(latex))
        ranked = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
        # A backslash before the end of a line is a token, too, but the file has one token per line.
        kept = [
            token
            for token, count in ranked
            if count >= least and token not in (PAD, UNKNOWN) and token.splitlines() == [token]
        ]
        return cls([PAD, UNKNOWN, *kept[: most - 2]])

    def to_text(self) -> str:
        """Returns the content of a file: one token per line."""
        return "\n".join(self.tokens) + "\n"

    @classmethod
    def load(cls, path: Path) -> LatexVocabulary:
        """The vocabulary in a file."""
        try:
            return cls(read_description(path).decode().removesuffix("\n").split("\n"))
        except (OSError, UnicodeDecodeError) as error:
            raise MathAMRError(f"cannot read the LaTeX tokens in {path}: {error}") from error


class InputReader:
    """Reads posts and formulas; `pieces` is the vocabulary with the mathematical tokens in it."""

    def __init__(
        self,
        pieces: WordPieces,
        mathematics: MathTokens,
        latex: LatexVocabulary,
        *,
        length: int,
        formula_length: int,
    ) -> None:
        self.pieces, self.mathematics, self.latex = pieces, mathematics, latex
        self._length, self._formula_length = length, formula_length

    def posts(self, posts: Sequence[Post]) -> list[PostInput]:
        """Reads posts, in order; one without text and formulas has no pieces between its marks."""
        read = self._text([written_sentences(post) for post in posts])
        return [
            PostInput(numbers, self._longest(post.formulas), sentences)
            for (numbers, sentences), post in zip(read, posts, strict=True)
        ]

    def formulas(self, formulas: Sequence[Formula]) -> list[PostInput]:
        """Reads formulas alone, in order: each is its own text and its own formula."""
        read = self._text([[f"${formula.latex}$"] for formula in formulas])
        return [
            PostInput(numbers, self._longest((formula,)), sentences)
            for (numbers, sentences), formula in zip(read, formulas, strict=True)
        ]

    def _text(self, posts: Sequence[Sequence[str]]) -> list[tuple[PieceNumbers, PieceNumbers]]:
        """Returns the pieces of posts given as sentences, and the sentence of each piece; marks belong to the neighbouring sentence."""
        found: list[tuple[PieceNumbers, PieceNumbers]] = []
        for cut in self.pieces.cut([self._wording(sentences) for sentences in posts]):
            numbers = cut.numbers[: self._length]
            of = np.zeros(len(cut.numbers), np.uint16)
            for number, start, end in zip(cut.of, cut.starts, cut.ends, strict=True):
                of[start:end] = number
            kept = of[: self._length]
            ends = (kept[:1], kept[-1:]) if len(kept) else (np.zeros(1, np.uint16),) * 2
            marked = np.concatenate([[self.pieces.begin], numbers, [self.pieces.end]]).astype(numbers.dtype)
            found.append((marked, np.concatenate([ends[0], kept, ends[1]]).astype(np.uint16)))
        return found

    def _wording(self, sentences: Sequence[str]) -> Wording:
        spans: list[Span] = []
        at = 0
        parts = [self.mathematics.spelled(sentence) for sentence in sentences]
        for number, part in enumerate(parts):
            spans.append(Span(number, at, at + len(part)))
            at += len(part) + 1
        return Wording(" ".join(parts), tuple(spans))

    def _longest(self, formulas: Sequence[Formula]) -> tuple[tuple[str, PieceNumbers], ...]:
        """Returns the longest formulas by tokens, each spelling once; among equally long ones the first."""
        found: dict[bytes, tuple[str, PieceNumbers]] = {}
        for formula in formulas[:MOST_FORMULAS]:
            numbers = self.latex.numbers(formula.latex, self._formula_length)
            if len(numbers):
                found.setdefault(numbers.tobytes(), (formula.id, numbers))
        ranked = sorted(found.values(), key=lambda each: -len(each[1]))
        return tuple(ranked[:FUSED])


def padded(rows: Sequence[PieceNumbers], pad: int, width: int = 0) -> tuple[Tensor, Tensor]:
    """Returns rows of numbers as one padded tensor, and their lengths; empty rows have one padding."""
    lengths = np.array([len(row) for row in rows], np.int64)
    width = max(width, int(lengths.max()) if len(rows) else 1, 1)
    numbers = np.full((len(rows), width), pad, np.int64)
    for place, row in enumerate(rows):
        numbers[place, : len(row)] = row
    return torch.from_numpy(numbers), torch.from_numpy(lengths)
