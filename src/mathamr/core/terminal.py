"""Words of strangers on a terminal: a file's name or a post's text may hold signs that a terminal obeys."""

from __future__ import annotations

import re

_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufff9-\ufffb]"
)


def visible(text: str) -> str:
    """The text with every sign spelt out that a terminal would obey instead of showing it; lines stay lines.

    >>> print(visible("notes\\x1b]0;title\\x07.md"))
    notes\\x1b]0;title\\x07.md
    """
    return _OBEYED.sub(_spelt, text)


def _spelt(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
