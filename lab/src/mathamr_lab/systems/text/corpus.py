"""`TextCorpus`: texts, pairs among them, and held-out pairs: the training data of text encoders alone."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from mathamr.core.arrays import AnyArray, BoolArray, ByteArray, IntArray
from mathamr.core.errors import MathAMRError
from mathamr.text.wordpieces import Pieces, WordPieces
from mathamr_lab.systems.text.shard import TextShard, text_arrays, texts_from

FIRST = "[PAD]"
"""The first of BERT's pieces in a vocabulary, alone or inside that of MPNet."""
PIECES = 30_522
"""The number of pieces in BERT's vocabulary."""


@dataclass(frozen=True, eq=False)
class Variants:
    """Further texts, each a variant of a text of the corpus."""

    texts: TextShard = field(default_factory=lambda: TextShard(()))
    of: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))

    @cached_property
    def places(self) -> dict[int, list[int]]:
        """The variants of each text that has any."""
        found: dict[int, list[int]] = {}
        for place, text in enumerate(self.of.tolist()):
            found.setdefault(text, []).append(place)
        return found

    def drawn(self, text: int, generator: np.random.Generator) -> Pieces | None:
        """Draw one of a text's variants; None if it has none."""
        found = self.places.get(text)
        return self.texts.posts[found[int(generator.integers(len(found)))]] if found else None

    def each(self, change: Callable[[Pieces], Pieces]) -> Variants:
        """Return the variants with every one changed."""
        return Variants(TextShard(tuple(map(change, self.texts.posts))), self.of)

    def of_parts(self, texts: TextShard) -> Variants:
        """Return the variants with only those parts that their texts have too, in order."""

        def kept(place: int, variant: Pieces) -> Pieces:
            parts = np.isin(variant.of, texts.posts[self.of[place]].of)
            return Pieces(variant.numbers, variant.of[parts], variant.starts[parts], variant.ends[parts])

        return Variants(
            TextShard(tuple(kept(place, variant) for place, variant in enumerate(self.texts.posts))), self.of
        )

    def arrays(self, prefix: str) -> dict[str, AnyArray]:
        """Return the arrays to save, their names after `prefix`."""
        found = {**text_arrays(self.texts), "text": self.of.astype(np.int32)}
        return {f"{prefix}{name}": array for name, array in found.items()}

    @classmethod
    def read(cls, file: Mapping[str, AnyArray], prefix: str) -> Variants:
        """Read what `arrays` saved; files of older versions have no variants."""
        if f"{prefix}text" not in file or not len(file[f"{prefix}text"]):
            return cls()
        found = {name.removeprefix(prefix): file[name] for name in file if name.startswith(prefix)}
        return cls(texts_from(found), found["text"].astype(np.int64))


@dataclass(frozen=True, eq=False)
class TextCorpus:
    """Texts by number with the spans of their parts, the complete text last.

    `groups` number what belongs together, such as a question, its title and its answers: texts of a group are never negatives
    of each other. `held` marks the validation pairs, `kinds` the kind of each pair. Pieces are
    numbered as in BERT's vocabulary, whose checksum is stored. `forms` are texts in other letters, `foils` texts with a
    changed meaning; each has the number of its text.
    """

    ids: tuple[str, ...]
    texts: TextShard
    groups: IntArray
    pairs: IntArray
    held: BoolArray
    kinds: tuple[str, ...]
    vocabulary: int
    forms: Variants = field(default_factory=lambda: Variants())
    foils: Variants = field(default_factory=lambda: Variants())

    def __post_init__(self) -> None:
        if not len(self.ids) == len(self.texts) == len(self.groups):
            raise MathAMRError("a corpus of texts needs an id and a group for every text")
        if not len(self.pairs) == len(self.held) == len(self.kinds):
            raise MathAMRError("a corpus of texts needs a kind for every pair, and whether it is held out")
        if len(self.pairs) and not 0 <= int(self.pairs.min()) <= int(self.pairs.max()) < len(self.ids):
            raise MathAMRError("a pair of a corpus refers to a text that does not exist")

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def apart(self) -> BoolArray:
        """A mask of the texts whose group has a held-out pair: they are never trained on."""
        return np.isin(self.groups, self.groups[self.pairs[self.held].flatten()])

    def parted(self) -> tuple[IntArray, IntArray]:
        """Return (training, validation) pairs."""
        return self.pairs[self.learned], self.pairs[self.held]

    @cached_property
    def learned(self) -> BoolArray:
        """A mask of the training pairs: those that are not held out and have no held-out pair in their group."""
        return np.asarray(~self.held & ~self.apart[self.pairs].any(1))

    def of_kinds(self, unwanted: Sequence[str]) -> TextCorpus:
        """Return the same texts without the pairs of some kinds."""
        kept = np.array([kind not in unwanted for kind in self.kinds], np.bool_)
        kinds = tuple(kind for kind in self.kinds if kind not in unwanted)
        return replace(self, pairs=self.pairs[kept], held=self.held[kept], kinds=kinds)

    def among(self, questions: AnyArray, documents: AnyArray) -> BoolArray:
        """Return for every question and document whether they belong together."""
        return np.asarray(self.groups[questions][:, None] == self.groups[documents][None, :])

    def cut(self, most: int) -> TextCorpus:
        """Return only the first pieces of every text."""
        return self._each(lambda post: post.cut(most))

    def _each(self, change: Callable[[Pieces], Pieces]) -> TextCorpus:
        texts = TextShard(tuple(map(change, self.texts.posts)))
        return replace(
            self,
            texts=texts,
            forms=self.forms.each(change).of_parts(texts),
            foils=self.foils.each(change),
        )

    def numbered_for(self, pieces: WordPieces) -> TextCorpus:
        """Return the same texts with a vocabulary's numbers for their pieces."""
        shift = offset(pieces, self.vocabulary)
        if not shift:
            return self
        return self._each(
            lambda post: Pieces(
                (post.numbers + np.uint16(shift)).astype(np.uint16), post.of, post.starts, post.ends
            )
        )

    def save(self, path: Path) -> None:
        """Write one `.npz` without pickles."""
        arrays = {
            **text_arrays(self.texts),
            "ids": _lines(self.ids),
            "groups": self.groups.astype(np.int32),
            "pairs": self.pairs.astype(np.int32),
            "held": self.held,
            "kinds": _lines(self.kinds),
            "vocabulary": np.array(self.vocabulary, np.uint32),
            **self.forms.arrays("forms."),
            **self.foils.arrays("foils."),
        }
        with path.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)

    @classmethod
    def load(cls, path: Path) -> TextCorpus:
        """Read the file that `save` wrote; refuse any other file."""
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
                    forms=Variants.read(file, "forms."),
                    foils=Variants.read(file, "foils."),
                )
        except (OSError, ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile) as error:
            raise MathAMRError(f"{path} is not a corpus of texts, or it is damaged: {error}") from error


def offset(pieces: WordPieces, checksum: int | None = None) -> int:
    """Return the offset of BERT's pieces in a vocabulary."""
    shift = pieces.vocabulary.index(FIRST) if FIRST in pieces.vocabulary else 0
    if checksum is not None and checksum != vocabulary_checksum(pieces, shift):
        raise MathAMRError("these texts were cut into different word pieces than the text encoder reads")
    return shift


def pieces_of_bert(pieces: WordPieces) -> WordPieces:
    """Return BERT's pieces of a vocabulary, numbered as in BERT's."""
    shift = offset(pieces)
    return WordPieces(pieces.vocabulary[shift : shift + PIECES]) if shift else pieces


def vocabulary_checksum(pieces: WordPieces, shift: int = 0) -> int:
    """Return a checksum of BERT's pieces."""
    return zlib.crc32("\n".join(pieces.vocabulary[shift : shift + PIECES]).encode())


def _lines(words: Sequence[str]) -> ByteArray:
    return np.frombuffer("\n".join(words).encode(), np.uint8)


def _unlined(array: ByteArray) -> tuple[str, ...]:
    text = array.tobytes().decode()
    return tuple(text.split("\n")) if text else ()
