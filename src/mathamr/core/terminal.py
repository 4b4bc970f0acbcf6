"""Makes untrusted text safe for a terminal: file names and posts may hold control characters that a terminal obeys."""

from __future__ import annotations

import re

_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufff9-\ufffb]"
)


def visible(text: str) -> str:
    """Return the text with every control character escaped; line breaks stay.

    >>> print(visible("notes\\x1b]0;title\\x07.md"))
    notes\\x1b]0;title\\x07.md
    """
    return _CONTROL.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
