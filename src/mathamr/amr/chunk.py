"""Chunks: an overlong sentence in pieces that a parser can read."""

from __future__ import annotations

import re

MAX_TOKENS = 500
"""The thesis' limit (section 3.1)."""

# A run of more than 40 letters counts as several tokens: scripts without blanks have no others.
_TOKEN = re.compile(r"\w{1,40}|[^\w\s]")
_STRONG, _WEAK = frozenset(".;!?。；！？"), frozenset(",:—–，、：")


def chunks(sentence: str, limit: int = MAX_TOKENS) -> list[str]:
    """`sentence` in pieces of at most `limit` tokens, cut behind punctuation where there is some.

    >>> chunks("One thing, and two; three things.", limit=6)
    ['One thing, and two;', 'three things.']
    """
    if len(sentence) <= limit:
        return [sentence]
    tokens = list(_TOKEN.finditer(sentence))
    pieces: list[str] = []
    start = 0
    while start < len(tokens):
        end = _end(tokens, start, limit)
        stop = tokens[end].start() if end < len(tokens) else len(sentence)
        pieces.append(sentence[tokens[start].start() : stop].strip())
        start = end
    return pieces or [sentence]


def _end(tokens: list[re.Match[str]], start: int, limit: int) -> int:
    """The number of the token that opens the next piece; at least half of the limit is used."""
    end = start + limit
    if end >= len(tokens):
        return len(tokens)
    for marks in (_STRONG, _WEAK):
        for number in range(end - 1, start + limit // 2 - 1, -1):
            if tokens[number].group() in marks:
                return number + 1
    return end
