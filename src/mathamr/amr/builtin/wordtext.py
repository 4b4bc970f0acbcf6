"""`WordList`: many short words in their MessagePack encoding, searched without being split.

One character before every word encodes its length, and all other characters are ASCII, so finding the length character followed by
the word is finding the word. A query looks up a few of fifty thousand words; after many lookups the words become a set.
"""

from __future__ import annotations

import re
from functools import cached_property

SHORTEST = 0xA0
HEADS = [chr(SHORTEST + size) for size in range(32)]
"""The character before a word of each length."""
OFTEN = 100
"""The number of lookups after which the words become a set; one search of the text takes a hundredth of that."""

_HEAD = re.compile("[\xa0-\xbf]")


def _without_rest(text: str) -> str:
    """The text up to the end of its last word; bytes that follow in the file may look like more words."""
    last = max(text.rfind(head) for head in HEADS)
    return text[: last + 1 + ord(text[last]) - SHORTEST]


class WordList:
    """A collection of words that supports membership tests.

    >>> words = WordList("\xa2at\xa3cat")
    >>> "cat" in words, "at" in words, "ca" in words, len(words)
    (True, True, False, 2)
    """

    written = re.compile(rb"(?:[\xa0-\xbf][\x00-\x7f]*)+")

    def __init__(self, text: str) -> None:
        self.text = _without_rest(text)
        self._lookups = 0

    def __contains__(self, word: str) -> bool:
        self._lookups += 1
        if self._lookups > OFTEN:
            return word in self._set
        return len(word) < len(HEADS) and HEADS[len(word)] + word in self.text

    def __len__(self) -> int:
        return sum(map(self.text.count, HEADS))

    @cached_property
    def _set(self) -> frozenset[str]:
        return frozenset(_HEAD.split(self.text)[1:])
