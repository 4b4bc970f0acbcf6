"""`WordList`: many short words as MessagePack writes them, looked through without being cut apart.

Before every word stands one character that says how long it is, and no other is beyond ASCII: to find a word after its own length is to
find the word. A query asks for a few words of fifty thousand; who asks for many gets a set.
"""

from __future__ import annotations

import re
from functools import cached_property

SHORTEST = 0xA0
HEADS = [chr(SHORTEST + size) for size in range(32)]
"""What stands before a word of each length."""
OFTEN = 100
"""Questions after which the words are cut apart: to look through the text takes a hundredth of that."""

_HEAD = re.compile("[\xa0-\xbf]")


def _whole(text: str) -> str:
    """The text up to the end of its last word: what follows in the file may look like more of it."""
    last = max(text.rfind(head) for head in HEADS)
    return text[: last + 1 + ord(text[last]) - SHORTEST]


class WordList:
    """Words, of which it is asked whether they are there.

    >>> words = WordList("\xa2at\xa3cat")
    >>> "cat" in words, "at" in words, "ca" in words, len(words)
    (True, True, False, 2)
    """

    written = re.compile(rb"(?:[\xa0-\xbf][\x00-\x7f]*)+")

    def __init__(self, text: str) -> None:
        self.text = _whole(text)
        self._asked = 0

    def __contains__(self, word: str) -> bool:
        self._asked += 1
        if self._asked > OFTEN:
            return word in self._set
        return len(word) < len(HEADS) and HEADS[len(word)] + word in self.text

    def __len__(self) -> int:
        return sum(map(self.text.count, HEADS))

    @cached_property
    def _set(self) -> frozenset[str]:
        return frozenset(_HEAD.split(self.text)[1:])
