"""Cuts overlong sentences into pieces that a parser can read."""

from __future__ import annotations

import re
from itertools import islice

MAX_TOKENS = 500
"""The thesis' limit (section 3.1)."""

# A run of more than 40 letters counts as several tokens: scripts without blanks have no others.
_TOKEN = re.compile(r"\w{1,40}|[^\w\s]")
_STRONG, _WEAK = frozenset(".;!?。；！？"), frozenset(",:—–，、：")


def chunks(sentence: str, limit: int = MAX_TOKENS) -> list[str]:
    """Split `sentence` into pieces of at most `limit` tokens, after punctuation if there is some.

    >>> chunks("One thing, and two; three things.", limit=6)
    ['One thing, and two;', 'three things.']
    """
    if len(sentence) <= limit:
        return [sentence]
    pieces: list[str] = []
    start = 0
    while start < len(sentence):
        stop = _stop(sentence, start, limit)
        pieces.append(sentence[start:stop].strip())
        start = stop
    return [piece for piece in pieces if piece] or [sentence]


def _stop(sentence: str, start: int, limit: int) -> int:
    """Return the end of the piece that begins at `start`; it has at least half of `limit` tokens."""
    tokens = list(islice(_TOKEN.finditer(sentence, start), limit + 1))
    if len(tokens) <= limit:
        return len(sentence)
    for marks in (_STRONG, _WEAK):
        for number in range(limit - 1, limit // 2 - 1, -1):
            if tokens[number].group() in marks:
                return tokens[number + 1].start()
    return tokens[limit].start()
