"""LaTeX text to tokens: commands, single characters, runs of space; comments are dropped."""

from __future__ import annotations

import re

_COMMAND = r"\\(?:(?:lx|qvar)?@[a-zA-Z@]+|[a-zA-Z]+)|\\[\s\S]"
"""Also the inner commands that converted collections contain, like `\\lx@paragraphsign`."""
_TOKEN = re.compile(_COMMAND + r"|\s+|[\s\S]")
_TOKEN_WITH_COMMENTS = re.compile(_COMMAND + r"|%[^\n]*\n?\s*|\s+|[\s\S]")


def tokenize(text: str) -> tuple[list[str], list[int]]:
    """The tokens of a formula and the offset at which each begins.

    >>> tokenize("a_1 % one")
    (['a', '_', '1', ' '], [0, 1, 2, 3])
    """
    if "%" not in text:
        tokens = _TOKEN.findall(text)
        offsets = []
        offset = 0
        for token in tokens:
            offsets.append(offset)
            offset += len(token)
        return tokens, offsets
    tokens, offsets = [], []
    for match in _TOKEN_WITH_COMMENTS.finditer(text):
        token = match.group()
        if token[0] != "%":
            tokens.append(token)
            offsets.append(match.start())
    return tokens, offsets
