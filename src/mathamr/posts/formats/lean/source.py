"""`LeanSource`: a file of Lean 4 with its comments and strings taken out, offset for offset."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mathamr.posts.formats.declaration.posts import MOST_UNCLOSED

_SKIPPED = re.compile(
    r"""[-/"'](?:  # one class first: it is fast to search for
    (?<=-)-[^\n]*+  # a comment to the end of the line
    |(?<=/)-(?P<mark>[-!]?)  # a comment that may hold others
    |(?<=")(?P<string>)
    |(?<=')(?<![\w'!?]')(?:\\(?:[^ux\n]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})|[^'\\\n])')  # a character, not a prime""",
    re.X,
)
_STRING_END = re.compile(r"(?:[^\"\\]|\\.)*+\"", re.S)
_RAW = re.compile(r"(?<![\w'!?])r(#{0,20})\Z")
_INSIDE = re.compile(r"/-|-/")
_VISIBLE = re.compile(r"[^\n]")
_COMMAND = re.compile(
    r"^(?:@\[|/-|(?:(?:private|protected|noncomputable|partial|unsafe)[ ]+)*(?:theorem|lemma|def|abbrev|structure|class|inductive|instance|axiom|example"
    r"|namespace|section|end|open|variable|universe)\b)",
    re.M,
)
"""The beginning of a command at the beginning of a line, or of a comment before it."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A documentation comment: [start, end) of the source, and its text without the marks."""

    start: int
    end: int
    text: str
    is_module: bool
    """True of `/-! … -/`, which documents a module or a part of one."""


class LeanSource:
    """The text of a file, and `code`: the same text with blanks for every comment and for the inside of every string.

    Offsets of `code` are offsets of `text`, so that what is found in one can be cut from the other.

    >>> source = LeanSource('/-- One. -/ def a := "theorem" -- no')
    >>> source.code, [comment.text.strip() for comment in source.comments]
    ('            def a := "       "      ', ['One.'])
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.comments: list[Comment] = []
        self.unclosed: list[int] = []
        """The offsets of comments that are never closed: what is behind them up to the next command is not read."""
        self.unclosed_string: int | None = None
        """The offset of a string that is never closed."""
        self.code = self._blank_out()

    def _blank_out(self) -> str:
        text, done, position = self.text, 0, 0
        parts: list[str] = []
        while match := _SKIPPED.search(text, position):
            start, position = match.span()
            if match["mark"] is not None:
                position = self._closed(match.end())
                if position < 0:
                    position = self._next_command(start, match.end())
                elif match["mark"]:
                    inner = text[match.end() : position - 2]
                    self.comments.append(Comment(start, position, inner, match["mark"] == "!"))
            elif match["string"] is not None:
                position = self._string_end(start)
            skipped = text[start:position]
            if skipped[0] == '"' and len(skipped) > 1:
                blank = '"' + _VISIBLE.sub(" ", skipped[1:-1]) + '"'
            elif "\n" in skipped:
                blank = _VISIBLE.sub(" ", skipped)
            else:
                blank = " " * len(skipped)
            parts += [text[done:start], blank]
            done = position
        parts.append(text[done:])
        return "".join(parts)

    def _next_command(self, start: int, inside: int) -> int:
        """Note a comment that is never closed, and return where the next command begins."""
        self.unclosed.append(start)
        found = _COMMAND.search(self.text, inside) if len(self.unclosed) <= MOST_UNCLOSED else None
        return found.start() if found else len(self.text)

    def _closed(self, start: int) -> int:
        """Return the end of the comment whose inside begins at `start`; -1 if it is never closed."""
        depth = 1
        for mark in _INSIDE.finditer(self.text, start):
            depth += 1 if mark.group() == "/-" else -1
            if not depth:
                return mark.end()
        return -1

    def _string_end(self, quote: int) -> int:
        """Return the end of the string that a quotation mark opens; a raw one ends with as many signs # as it began with."""
        text = self.text
        raw = _RAW.search(text[max(0, quote - 22) : quote]) if text[quote - 1 : quote] in ("r", "#") else None
        if raw:
            found = text.find('"' + raw[1], quote + 1)
            return self._unclosed_string(quote) if found < 0 else found + 1 + len(raw[1])
        closed = _STRING_END.match(text, quote + 1)
        return closed.end() if closed else self._unclosed_string(quote)

    def _unclosed_string(self, quote: int) -> int:
        self.unclosed_string = quote
        return len(self.text)
