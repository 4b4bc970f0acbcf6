"""`TextCorpus`: texts, who answers whom among them, and what is kept apart: all that text encoders alone are trained on."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from mathamr.core.arrays import AnyArray, BoolArray, ByteArray, IntArray
from mathamr.core.errors import MathAMRError
from mathamr.text.wordpieces import Pieces, WordPieces
from mathamr_lab.systems.mathamrplus.text.shard import TextShard, text_arrays, texts_from

FIRST = "[PAD]"
"""Where BERT's pieces begin in a vocabulary, alone or inside that of MPNet."""
PIECES = 30_522
"""So many pieces BERT's vocabulary has."""


@dataclass(frozen=True, eq=False)
class TextCorpus:
    """Texts by number with the spans of their parts, the whole of a text last.

    `groups` number what belongs together, such as a question, its title and its answers: none of a group is a negative
    of another. `held` marks the pairs that are only validated on, `kinds` what sort of pair each is. Pieces are
    numbered as in BERT's vocabulary, whose checksum is kept.
    """

    ids: tuple[str, ...]
    texts: TextShard
    groups: IntArray
    pairs: IntArray
    held: BoolArray
    kinds: tuple[str, ...]
    vocabulary: int

    def __post_init__(self) -> None:
        if not len(self.ids) == len(self.texts) == len(self.groups):
            raise MathAMRError("a corpus of texts needs an id and a group for every text")
        if not len(self.pairs) == len(self.held) == len(self.kinds):
            raise MathAMRError("a corpus of texts needs a kind for every pair, and whether it is held back")
        if len(self.pairs) and not 0 <= int(self.pairs.min()) <= int(self.pairs.max()) < len(self.ids):
            raise MathAMRError("a pair of a corpus names a text that it does not have")

    def __len__(self) -> int:
        return len(self.ids)

    def representatives(self, place: int) -> int:
        """The parts of a text, the whole counted."""
        return int(self.texts.posts[place].of[-1]) + 1

    @cached_property
    def apart(self) -> BoolArray:
        """The texts whose group has a pair that is held back: they are never learned from."""
        return np.isin(self.groups, self.groups[self.pairs[self.held].flatten()])

    def parted(self) -> tuple[IntArray, IntArray]:
        """(training, validation) pairs."""
        return self.pairs[self.learned], self.pairs[self.held]

    @cached_property
    def learned(self) -> BoolArray:
        """Which pairs are learned from: those that are not held back, nor of a group of which one is."""
        return np.asarray(~self.held & ~self.apart[self.pairs].any(1))

    def of_kinds(self, unwanted: Sequence[str]) -> TextCorpus:
        """The same texts without the pairs of some kinds."""
        kept = np.array([kind not in unwanted for kind in self.kinds], np.bool_)
        kinds = tuple(kind for kind in self.kinds if kind not in unwanted)
        return replace(self, pairs=self.pairs[kept], held=self.held[kept], kinds=kinds)

    def among(self, questions: AnyArray, documents: AnyArray) -> BoolArray:
        """For every question and document whether they belong together."""
        return np.asarray(self.groups[questions][:, None] == self.groups[documents][None, :])

    def cut(self, most: int) -> TextCorpus:
        """The first pieces of every text only."""
        return replace(self, texts=TextShard(tuple(post.cut(most) for post in self.texts.posts)))

    def numbered_for(self, pieces: WordPieces) -> TextCorpus:
        """The same texts with the numbers that a vocabulary has for their pieces."""
        shift = offset(pieces, self.vocabulary)
        if not shift:
            return self
        moved = (
            Pieces((post.numbers + np.uint16(shift)).astype(np.uint16), post.of, post.starts, post.ends)
            for post in self.texts.posts
        )
        return replace(self, texts=TextShard(tuple(moved)))

    def save(self, path: Path) -> None:
        """One `.npz` without pickles."""
        arrays = {
            **text_arrays(self.texts),
            "ids": _lines(self.ids),
            "groups": self.groups.astype(np.int32),
            "pairs": self.pairs.astype(np.int32),
            "held": self.held,
            "kinds": _lines(self.kinds),
            "vocabulary": np.array(self.vocabulary, np.uint32),
        }
        with path.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)

    @classmethod
    def load(cls, path: Path) -> TextCorpus:
        """The inverse of `save`; anything else is refused."""
        try:
            with np.load(path, allow_pickle=False) as file:
                return cls(
                    ids=_unlined(file["ids"]),
                    texts=texts_from(file),
                    groups=file["groups"].astype(np.int64),
                    pairs=file["pairs"].astype(np.int64).reshape(-1, 2),
                    held=file["held"].astype(np.bool_),
                    kinds=_unlined(file["kinds"]),
                    vocabulary=int(file["vocabulary"]),
                )
        except (OSError, ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile) as error:
            raise MathAMRError(f"{path} is no corpus of texts, or it is damaged: {error}") from error


def offset(pieces: WordPieces, checksum: int | None = None) -> int:
    """By how much a vocabulary's numbers of BERT's pieces are higher than BERT's own."""
    shift = pieces.vocabulary.index(FIRST) if FIRST in pieces.vocabulary else 0
    if checksum is not None and checksum != vocabulary_checksum(pieces, shift):
        raise MathAMRError("these texts were cut into other word pieces than the text encoder reads")
    return shift


def vocabulary_checksum(pieces: WordPieces, shift: int = 0) -> int:
    """Equal for equal pieces of BERT."""
    return zlib.crc32("\n".join(pieces.vocabulary[shift : shift + PIECES]).encode())


def _lines(words: Sequence[str]) -> ByteArray:
    return np.frombuffer("\n".join(words).encode(), np.uint8)


def _unlined(array: ByteArray) -> tuple[str, ...]:
    text = array.tobytes().decode()
    return tuple(text.split("\n")) if text else ()
