"""`WordPieces`: text as numbers of word pieces, and each piece's position in the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from mathamr.core.arrays import Int32Array, IntArray
from mathamr.core.errors import MathAMRError
from mathamr.core.pickling import pickle_by_fields
from mathamr.core.storage.plainfiles import read_description
from mathamr.text.signs import with_sign_words

if TYPE_CHECKING:
    from mathamr.text.wording import Wording

UNKNOWN = "[UNK]"
MARKS = (("<pad>", "<s>", "</s>"), ("[PAD]", "[CLS]", "[SEP]"))
"""The marks that pad, start and end a row: MPNet's, whose vocabulary contains BERT's, and BERT's."""
MASKS = ("[MASK]", "<mask>")
MOST_CHARACTERS = 200_000
"""A longer wording is cut before it is tokenised: the encoder reads no more of it anyway."""


PieceNumbers = npt.NDArray[np.uint16 | np.uint32]


@pickle_by_fields
@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """The pieces of a wording, without start and end marks; span i covers pieces [starts[i], ends[i]).

    Only spans with at least one piece are listed; `of` says whose they are.
    """

    numbers: PieceNumbers
    of: Int32Array
    starts: Int32Array
    ends: Int32Array

    def __len__(self) -> int:
        return len(self.numbers)

    def cut(self, most: int) -> Pieces:
        """Return the first pieces only."""
        if len(self) <= most:
            return self
        ends = np.minimum(self.ends, most)
        kept = self.starts < ends
        return Pieces(self.numbers[:most], self.of[kept], self.starts[kept], ends[kept])

    def only(self, span: int) -> Pieces:
        """Return the same pieces with one of the spans."""
        chosen = slice(span, span + 1)
        return Pieces(self.numbers, self.of[chosen], self.starts[chosen], self.ends[chosen])


class WordPieces:
    """Cuts lower-cased text into the pieces of a vocabulary, greedily (WordPiece)."""

    unknown: ClassVar[str] = UNKNOWN
    """The piece for what no other piece spells."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self.vocabulary = tuple(vocabulary)
        number = {piece: place for place, piece in enumerate(self.vocabulary)}
        marks = next((marks for marks in MARKS if number.keys() >= set(marks)), MARKS[-1])
        missing = [mark for mark in (self.unknown, *marks) if mark not in number]
        if missing or len(number) != len(self.vocabulary) or len(number) > 2**16:
            raise MathAMRError(
                f"these {len(self.vocabulary)} lines are not a vocabulary of word pieces"
                + (f": {', '.join(missing)} is missing" if missing else ": pieces repeat, or are too many")
            )
        self.pad, self.begin, self.end = (number[mark] for mark in marks)
        self._number = number

    @cached_property
    def mask(self) -> int:
        """The mark for a hidden piece; if a vocabulary lacks one, the padding mark."""
        return next((self.vocabulary.index(mark) for mark in MASKS if mark in self.vocabulary), self.pad)

    @cached_property
    def _tokenizer(self) -> Any:
        """The tokenizer, created when text is first cut: tokenizers need not be installed where only numbers of pieces are
        read.
        """
        from tokenizers import Tokenizer
        from tokenizers.models import WordPiece
        from tokenizers.normalizers import BertNormalizer
        from tokenizers.pre_tokenizers import BertPreTokenizer

        made = Tokenizer(WordPiece(self._number, unk_token=UNKNOWN, max_input_chars_per_word=100))
        made.normalizer = BertNormalizer(lowercase=True)
        made.pre_tokenizer = BertPreTokenizer()
        return made

    def cut(self, wordings: Sequence[Wording]) -> list[Pieces]:
        """Cut wordings into pieces; mathematical signs are read as words."""
        wordings = [with_sign_words(wording) for wording in wordings]
        texts = [wording.text[:MOST_CHARACTERS] for wording in wordings]
        encoded = self._tokenizer.encode_batch(texts, add_special_tokens=False)
        return [
            pieces_of(wording, found.ids, found.offsets, len(self.vocabulary))
            for wording, found in zip(wordings, encoded, strict=True)
        ]

    def places(self, text: str) -> tuple[PieceNumbers, IntArray]:
        """Return the pieces of a text, and where in it each begins."""
        encoded = self._tokenizer.encode(text, add_special_tokens=False)
        wide = np.uint16 if len(self.vocabulary) <= 2**16 else np.uint32
        begins = np.array([begin for begin, _ in encoded.offsets], np.int64)
        return np.array(encoded.ids, wide), begins

    def with_words(self, words: Sequence[str]) -> WordPieces:
        """Return the vocabulary with further words appended."""
        return WordPieces((*self.vocabulary, *words))

    def to_bytes(self) -> bytes:
        """Return the content of a file with one piece per line."""
        return ("\n".join(self.vocabulary) + "\n").encode()

    @classmethod
    def load(cls, path: Path) -> WordPieces:
        """Read a file with the content of `to_bytes`."""
        try:
            return cls(read_description(path).decode().removesuffix("\n").split("\n"))
        except (OSError, UnicodeDecodeError) as error:
            raise MathAMRError(f"cannot read the word pieces in {path}: {error}") from error


def pieces_of(
    wording: Wording, numbers: Sequence[int], offsets: Sequence[tuple[int, int]], vocabulary: int
) -> Pieces:
    """Return the pieces of a wording from their numbers and positions in its text, in sixteen bits each if they fit."""
    begins = np.array([begin for begin, _ in offsets], np.int64)
    starts = np.searchsorted(begins, [span.start for span in wording.spans]).astype(np.int32)
    ends = np.searchsorted(begins, [span.end for span in wording.spans]).astype(np.int32)
    kept = starts < ends
    of = np.array([span.representative for span in wording.spans], np.int32)
    wide = np.uint16 if vocabulary <= 2**16 else np.uint32
    return Pieces(np.array(numbers, wide), of[kept], starts[kept], ends[kept])
