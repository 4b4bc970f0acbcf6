"""`BytePieces`: text as numbers of pieces of bytes, as RoBERTa and encoders of its kind read it (byte-level BPE)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from mathamr.core.errors import MathAMRError
from mathamr.core.storage.plainfiles import DAMAGED, read_description
from mathamr.text.wordpieces import WordPieces


class BytePieces(WordPieces):
    """Cuts text into bytes and merges them; `words` are pieces of the vocabulary that are found as a whole.

    The merges are data, and how text is split before them is fixed: a file of pieces cannot bring rules of its own.
    """

    unknown: ClassVar[str] = "<unk>"

    def __init__(
        self, vocabulary: Sequence[str], merges: Sequence[tuple[str, str]], words: Sequence[str] = ()
    ) -> None:
        super().__init__(vocabulary)
        self._merges, self._words = tuple(merges), tuple(words)
        for pair in self._merges:
            if not {*pair, "".join(pair)} <= self._number.keys():
                raise MathAMRError(
                    f"the merge of {' and '.join(map(repr, pair))} is not of pieces in the vocabulary"
                )

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import AddedToken, Tokenizer
        from tokenizers.models import BPE
        from tokenizers.pre_tokenizers import ByteLevel
        from tokenizers.processors import ByteLevel as Trimmed

        made = Tokenizer(BPE(self._number, list(self._merges)))
        made.pre_tokenizer = ByteLevel(add_prefix_space=False)
        made.post_processor = Trimmed(trim_offsets=True)
        made.add_tokens([AddedToken(word, normalized=False) for word in self._words])
        return made

    def with_words(self, words: Sequence[str]) -> BytePieces:
        """Return the vocabulary with further words appended."""
        return BytePieces((*self.vocabulary, *words), self._merges, (*self._words, *words))

    def to_bytes(self) -> bytes:
        """Return the content of a file: pieces, merges and words as JSON."""
        row = {"pieces": self.vocabulary, "merges": self._merges, "words": self._words}
        return json.dumps(row, ensure_ascii=False).encode()


def read_pieces(path: Path) -> WordPieces:
    """Read the pieces of a text encoder from a file: a list of words, or the JSON of `BytePieces`."""
    try:
        content = read_description(path)
    except OSError as error:
        raise MathAMRError(f"cannot read the word pieces in {path}: {error}") from error
    if not content.startswith(b"{"):
        return WordPieces.load(path)
    try:
        row = json.loads(content)
        pieces, words = ([str(piece) for piece in row[name]] for name in ("pieces", "words"))
        return BytePieces(pieces, [(str(one), str(other)) for one, other in row["merges"]], words)
    except DAMAGED as error:
        raise MathAMRError(f"{path} does not hold pieces of bytes: {error!r}") from error
