"""`PostShard`: posts as MaRF reads them and pairs of question and answer, in one file without pickles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from mathamr.core.arrays import Int32Array
from mathamr.core.errors import MathAMRError
from mathamr.systems.marf.postinput import PostInput
from mathamr.text.wordpieces import PieceNumbers


@dataclass(frozen=True, slots=True, eq=False)
class PostShard:
    """Posts by number, and pairs (question, answer) of them; the ids of formulas are not stored."""

    ids: tuple[str, ...]
    posts: tuple[PostInput, ...]
    pairs: Int32Array

    def __len__(self) -> int:
        return len(self.ids)

    def formulas(self, post: int) -> tuple[PieceNumbers, ...]:
        """Return the tokens of a post's formulas, the longest first."""
        return tuple(numbers for _, numbers in self.posts[post].formulas)

    def save(self, path: Path) -> None:
        """Write the file."""
        formulas = [self.formulas(post) for post in range(len(self))]
        flat = [numbers for each in formulas for numbers in each]
        np.savez_compressed(
            path,
            ids=np.array(self.ids),
            numbers=_joined([post.numbers for post in self.posts]),
            sentences=_joined([post.sentences for post in self.posts]),
            lengths=np.array([len(post.numbers) for post in self.posts], np.int32),
            tokens=_joined(flat),
            token_lengths=np.array([len(numbers) for numbers in flat], np.int32),
            counts=np.array([len(each) for each in formulas], np.int32),
            pairs=self.pairs,
        )

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote."""
        try:
            with np.load(path, allow_pickle=False) as file:
                numbers = _split(file["numbers"], file["lengths"])
                sentences = _split(file["sentences"], file["lengths"])
                tokens = iter(_split(file["tokens"], file["token_lengths"]))
                posts = tuple(
                    PostInput(each, tuple(("", next(tokens)) for _ in range(int(count))), own)
                    for each, own, count in zip(numbers, sentences, file["counts"], strict=True)
                )
                return cls(tuple(map(str, file["ids"])), posts, file["pairs"])
        except (OSError, ValueError, KeyError, StopIteration) as error:
            raise MathAMRError(f"{path} does not hold posts for MaRF, or it is damaged: {error}") from error

    @classmethod
    def of(cls, ids: Sequence[str], posts: Iterable[PostInput], pairs: Iterable[tuple[str, str]]) -> Self:
        """Build a shard from posts with their ids, and pairs of ids; pairs of unknown posts are left out."""
        number = {each: place for place, each in enumerate(ids)}
        known = [(number[one], number[other]) for one, other in pairs if one in number and other in number]
        return cls(tuple(ids), tuple(posts), np.array(known, np.int32).reshape(-1, 2))


def _joined(rows: Sequence[PieceNumbers]) -> PieceNumbers:
    return np.concatenate(rows) if rows else np.zeros(0, np.uint16)


def _split(numbers: PieceNumbers, lengths: Int32Array) -> list[PieceNumbers]:
    return np.split(numbers, np.cumsum(lengths)[:-1]) if len(lengths) else []
