"""`PostInput`: a post as MaRF reads it: the word pieces of its text, and the tokens of its longest formulas."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

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
T = TypeVar("T")
FUSED = 6
"""The number of formulas of a post that are kept: no more are fused."""
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
        """Return the numbers of a formula's first tokens."""
        return self.numbers_of(latex_tokens(latex), length)

    def numbers_of(self, tokens: Sequence[str], length: int) -> PieceNumbers:
        """Return the numbers of the first of some tokens."""
        return np.array([self._number.get(token, 1) for token in tokens[:length]], np.uint16)

    @classmethod
    def frequent(cls, formulas: Iterable[Sequence[str]], most: int, least: int) -> LatexVocabulary:
        """Return the `most` frequent of the tokens of formulas that occur at least `least` times."""
        counts = Counter(token for tokens in formulas for token in tokens)
        ranked = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
        # A backslash before the end of a line is a token, too, but the file has one token per line.
        kept = [
            token
            for token, count in ranked
            if count >= least and token not in (PAD, UNKNOWN) and token.splitlines() == [token]
        ]
        return cls([PAD, UNKNOWN, *kept[: most - 2]])

    def to_text(self) -> str:
        """Return the content of a file: one token per line."""
        return "\n".join(self.tokens) + "\n"

    @classmethod
    def load(cls, path: Path) -> LatexVocabulary:
        """Read the vocabulary of a file."""
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
        normalised: bool = False,
    ) -> None:
        self.pieces, self.mathematics, self.latex = pieces, mathematics, latex
        self._length, self._formula_length, self._normalised = length, formula_length, normalised

    def posts(self, posts: Sequence[Post]) -> list[PostInput]:
        """Read posts, in order; one without text and formulas has no pieces between its marks."""
        read = self._text([context_sentences(post, normalised=self._normalised) for post in posts])
        return [
            PostInput(numbers, self._longest(post.formulas, post.id), sentences)
            for (numbers, sentences), post in zip(read, posts, strict=True)
        ]

    def formulas(self, formulas: Sequence[Formula]) -> list[PostInput]:
        """Read formulas alone, in order: each is its own text and its own formula."""
        written = (normalised_latex(each.latex) if self._normalised else each.latex for each in formulas)
        read = self._text([[f"${latex}$"] for latex in written])
        return [
            PostInput(numbers, self._longest((formula,), formula.id), sentences)
            for (numbers, sentences), formula in zip(read, formulas, strict=True)
        ]

    def _text(self, posts: Sequence[Sequence[str]]) -> list[tuple[PieceNumbers, PieceNumbers]]:
        return list(cut_sentences(posts, self.pieces, self.mathematics, self._length))

    def _longest(self, formulas: Sequence[Formula], name: str) -> tuple[tuple[str, PieceNumbers], ...]:
        """Return the formulas to fuse, each spelling once, the longest first; among equally long ones the first."""
        found: dict[bytes, tuple[str, PieceNumbers]] = {}
        for formula in formulas[:MOST_FORMULAS]:
            numbers = self.latex.numbers(formula.latex, self._formula_length)
            if len(numbers):
                found.setdefault(numbers.tobytes(), (formula.id, numbers))
        return tuple(draw_formulas(sorted(found.values(), key=lambda each: -len(each[1])), name))

    def in_post(self, post: Post, read: PostInput) -> dict[str, PostInput]:
        """Return each formula of a post with the post as its context, by its id; formulas of one spelling share it."""
        found: dict[bytes, PostInput] = {}
        of: dict[str, PostInput] = {}
        for formula in post.formulas[:MOST_FORMULAS]:
            numbers = self.latex.numbers(formula.latex, self._formula_length)
            own = ((formula.id, numbers),) if len(numbers) else ()
            of[formula.id] = found.setdefault(numbers.tobytes(), PostInput(read.numbers, own, read.sentences))
        return of


def cut_sentences(
    posts: Sequence[Sequence[str]], pieces: WordPieces, mathematics: MathTokens, length: int
) -> Iterator[tuple[PieceNumbers, PieceNumbers]]:
    """Yield the first pieces of posts given as sentences, with both marks, and the sentence of each piece.

    Marks belong to the neighbouring sentence.
    """
    for cut in pieces.cut([_wording(sentences, mathematics) for sentences in posts]):
        numbers = cut.numbers[:length]
        of = np.zeros(len(cut.numbers), np.uint16)
        for number, start, end in zip(cut.of, cut.starts, cut.ends, strict=True):
            of[start:end] = number
        kept = of[:length]
        ends = (kept[:1], kept[-1:]) if len(kept) else (np.zeros(1, np.uint16),) * 2
        marked = np.concatenate([[pieces.begin], numbers, [pieces.end]]).astype(numbers.dtype)
        yield marked, np.concatenate([ends[0], kept, ends[1]]).astype(np.uint16)


def _wording(sentences: Sequence[str], mathematics: MathTokens) -> Wording:
    spans: list[Span] = []
    at = 0
    parts = [mathematics.spelled(sentence) for sentence in sentences]
    for number, part in enumerate(parts):
        spans.append(Span(number, at, at + len(part)))
        at += len(part) + 1
    return Wording(" ".join(parts), tuple(spans))


def context_sentences(post: Post, *, normalised: bool) -> list[str]:
    """Return the sentences of a post with its formulas as LaTeX, as it is written or normalised (appendix A.1)."""
    if not normalised:
        return written_sentences(post)
    formulas = tuple(replace(formula, latex=normalised_latex(formula.latex)) for formula in post.formulas)
    return written_sentences(replace(post, formulas=formulas))


def draw_formulas(formulas: Sequence[T], name: str, most: int = FUSED) -> list[T]:
    """Return the first, longest formula of a post and random others, up to `most`; always the same ones for a post.

    The order is kept (section 3.4: up to six random formulas).
    """
    if len(formulas) <= most:
        return list(formulas)
    chance = np.random.default_rng(zlib.crc32(name.encode()))
    others = 1 + chance.permutation(len(formulas) - 1)[: most - 1]
    return [formulas[place] for place in (0, *sorted(others.tolist()))]


def normalised_latex(latex: str) -> str:
    """Return the normalised tokens of a formula, with spaces between them."""
    return " ".join(latex_tokens(latex))


def padded(rows: Sequence[PieceNumbers], pad: int, width: int = 0) -> tuple[Tensor, Tensor]:
    """Return rows of numbers as one padded tensor, and their lengths; empty rows have one padding."""
    lengths = np.array([len(row) for row in rows], np.int64)
    width = max(width, int(lengths.max()) if len(rows) else 1, 1)
    numbers = np.full((len(rows), width), pad, np.int64)
    for place, row in enumerate(rows):
        numbers[place, : len(row)] = row
    return torch.from_numpy(numbers), torch.from_numpy(lengths)
