"""`BytePieces`: the pieces of a published tokenizer (byte pairs, or whatever its file tells), beside `WordPieces`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mathamr.errors import MathAMRError
from mathamr.layers.language.wordpieces import MOST_CHARACTERS, Pieces, WordPieces, pieces_of

if TYPE_CHECKING:
    from mathamr.layers.language.wording import Wording

FILE = "tokenizer.json"


class BytePieces(WordPieces):
    """Cuts text as a tokenizer's file says; words of our own have the numbers behind all embeddings.

    `size` is how many embeddings there are: often more than the tokenizer has pieces.
    """

    def __init__(
        self, text: str, size: int, marks: Mapping[str, int], words: Sequence[str] = (), source: str = FILE
    ) -> None:
        self._text, self._size, self._marks, self._words = text, size, dict(marks), tuple(words)
        self._source = source
        known = self._made.get_vocab_size()
        if known > size or not all(0 <= mark < size for mark in marks.values()):
            raise MathAMRError(f"{source} has {known} pieces, and there are only {size} embeddings")
        self._known = known
        names = [self._made.id_to_token(number) or f"[unused {number}]" for number in range(known)]
        names += [f"[unused {number}]" for number in range(known, size)]
        self.vocabulary = (*names, *self._words)
        self.pad, self.begin, self.end = marks["pad"], marks["begin"], marks["end"]

    @cached_property
    def _made(self) -> Any:
        from tokenizers import Tokenizer

        try:
            made = Tokenizer.from_str(self._text)
        except Exception as error:  # the library raises bare exceptions
            raise MathAMRError(f"{self._source} is no tokenizer that can be read: {error}") from error
        made.no_padding()
        made.no_truncation()
        return made

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import AddedToken

        made = self._made
        made.add_tokens([AddedToken(word, single_word=True, normalized=False) for word in self._words])
        return made

    def cut(self, wordings: Sequence[Wording]) -> list[Pieces]:
        """The pieces of wordings."""
        texts = [wording.text[:MOST_CHARACTERS] for wording in wordings]
        behind = self._size - self._known
        return [
            pieces_of(
                wording,
                [number if number < self._known else number + behind for number in found.ids],
                found.offsets,
                len(self.vocabulary),
            )
            for wording, found in zip(
                wordings, self._tokenizer.encode_batch(texts, add_special_tokens=False), strict=True
            )
        ]

    def with_words(self, words: Sequence[str]) -> BytePieces:
        """The same with further words behind."""
        return BytePieces(self._text, self._size, self._marks, (*self._words, *words), self._source)

    def save(self, path: Path) -> None:
        """The tokenizer's file as it was."""
        path.write_text(self._text, encoding="utf-8")
