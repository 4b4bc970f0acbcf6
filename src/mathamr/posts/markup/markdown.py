"""Markdown as people keep notes in it: the blocks, line by line. The text inside a block is `markdowninline`'s.

CommonMark with the additions of note-taking programs: `$`-math, tables, call-outs, footnotes, HTML inside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mathamr.posts.markup.delimiters import DISPLAY_ENVIRONMENTS
from mathamr.posts.markup.html import pieces as html_pieces
from mathamr.posts.markup.markdowninline import inline
from mathamr.posts.markup.piece import Note, Piece, Run

_QUOTE = re.compile(r"[ \t]{0,3}>[ \t]?")
_CALLOUT = re.compile(r"\[!\w+\][+-]?[ \t]*")
_FENCE = re.compile(r"[ \t]*(`{3,}(?!.*`)|~{3,})")
_BARRIER = re.compile(r"\n {0,3}(?:#{1,6}[ \t]|`{3}|~{3})")  # what no formula goes across
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+|\Z)")
_HEADING_END = re.compile(r"[ \t]#+[ \t]*\Z")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*\Z")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}\Z")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+(?:\[[ xX]\][ \t]+)?|\Z)")
_DEFINITION = re.compile(r"^ {0,3}\[(?!\^)([^\]\n]+)\]:[ \t]*<?([^\s>]+)>?.*$", re.M)
_FOOTNOTE = re.compile(r" {0,3}\[\^[^\]]+\]:[ \t]*")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*+\|?[ \t]*\Z")
_CELL_END = re.compile(r"`[^`]*`|\$[^$]*\$|\\.|(\|)")
_INDENTED = re.compile(r" {4}|\t")
_RAW_HTML = re.compile(r" {0,3}<(script|pre|style|textarea|math|svg|!--)(?![\w-])", re.I)
_DISPLAY = re.compile(
    r"`[^`]*`|\\\\|\\\$|(\$\$|\\[\[\]]|\\begin\s*\{([A-Za-z]+)\*?\}|\\end\s*\{([A-Za-z]+)\*?\})"
)


def pieces(text: str, note: Note) -> Iterator[Piece]:
    """The pieces of a Markdown text without front matter."""
    return _Reader(text, note).pieces()


class _Reader:
    """One pass over the lines of one text: `_run` is the inline text of the block that is open."""

    def __init__(self, text: str, note: Note) -> None:
        self._text = text
        self._note = note
        self._run = Run()
        self._position = 0
        self._in_list = False
        self._barrier = -1
        self._unclosed_before: dict[str, int] = {}
        self._never: set[str] = set()
        self._targets = (
            {label.lower(): target for label, target in _DEFINITION.findall(text)} if "]:" in text else {}
        )

    def pieces(self) -> Iterator[Piece]:
        after_blank, quoted = True, False
        while self._position < len(self._text):
            start, end = self._line()
            content = start
            while quote := _QUOTE.match(self._text, content, end):
                content = quote.end()
            if content == start and quoted and after_blank:
                yield from self._break("quote", start)
                quoted = False
            elif content > start and not quoted:
                yield from self._break("quote", start)
                quoted = True
            if content > start and (callout := _CALLOUT.match(self._text, content, end)):
                self._add(callout.end(), end)
                yield from self._break("heading", end)
                continue
            blank = not self._text[content:end].strip()
            if blank:
                yield from self._break("paragraph", content)
            else:
                yield from self._block(content, end, after_blank)
            after_blank = blank
        yield from self._flush()

    def _line(self) -> tuple[int, int]:
        """The next line without its end (LF or CR LF), which is stepped over."""
        start = self._position
        newline = self._text.find("\n", start)
        end = len(self._text) if newline < 0 else newline
        self._position = end + 1
        return start, end - self._text.endswith("\r", start, end)

    def _block(self, start: int, end: int, after_blank: bool) -> Iterator[Piece]:
        """The line [start, end), which is not blank and has no quote marks before it."""
        line = self._text[start:end]
        if fence := _FENCE.match(line):
            yield from self._fenced(fence.group(1), start, end)
        elif after_blank and not self._in_list and _INDENTED.match(line):
            yield from self._indented(start, end)
        elif heading := _HEADING.match(line):
            yield from self._break("heading", start)
            tail = _HEADING_END.search(line, heading.end() - 1)
            self._add(start + heading.end(), start + max(tail.start(), heading.end()) if tail else end)
            yield from self._break("heading", end)
            self._in_list = False
        elif len(self._run) and not self._in_list and _UNDERLINE.match(line):
            yield from self._break("heading", end)
        elif _RULE.match(line):
            yield from self._break("rule", start)
        elif raw := _RAW_HTML.match(line):
            yield from self._html(raw.group(1).lower(), start)
        elif "]:" in line and (_DEFINITION.match(line) or _FOOTNOTE.match(line)):
            yield from self._break("item", start)
            if footnote := _FOOTNOTE.match(line):
                self._add(start + footnote.end(), end)
        elif "|" in line and self._is_table(end):
            yield from self._table(start, end)
        else:
            if item := _ITEM.match(line):
                yield from self._break("item", start)
                self._in_list = True
                start += item.end()
            elif after_blank and not line[0].isspace():
                self._in_list = False
            self._inline_line(start, end)

    def _inline_line(self, start: int, end: int) -> None:
        """A line of running text, with the lines after it where a displayed formula goes on."""
        stop = self._display_end(start, end)
        self._add(start, min(end + 1, len(self._text)))
        while stop is not None and self._position < stop:
            begin, end = self._line()
            quote = _QUOTE.match(self._text, begin, end)
            self._add(quote.end() if quote else begin, min(end + 1, len(self._text)))

    def _display_end(self, start: int, end: int) -> int | None:
        """Where the displayed formula that is open at the end of a line is closed."""
        opened = ""
        for match in _DISPLAY.finditer(self._text, start, end):
            token, begins, ends = match.groups()
            if token == "$$":
                opened = "" if opened == "$$" else opened or "$$"
            elif token == "\\[" or (begins in DISPLAY_ENVIRONMENTS):
                opened = opened or ("\\]" if token == "\\[" else "\\end{" + token.split("{")[1])
            elif token and (token == opened or (ends and opened == "\\end{" + token.split("{")[1])):
                opened = ""
        if not opened or end < self._unclosed_before.get(opened, 0):
            return None
        if self._barrier < end:
            barrier = _BARRIER.search(self._text, end)
            self._barrier = barrier.start() if barrier else len(self._text)
        found = self._text.find(opened, end, self._barrier)
        if found < 0:
            self._unclosed_before[opened] = self._barrier
            return None
        return found + len(opened)

    def _fenced(self, fence: str, start: int, end: int) -> Iterator[Piece]:
        yield from self._break("code", start)
        first = last = min(end + 1, len(self._text))
        while self._position < len(self._text):
            begin, finish = self._line()
            line = self._text[begin:finish].strip()
            if len(line) >= len(fence) and not line.strip(fence[0]):
                break
            last = min(finish + 1, len(self._text))
        else:
            self._note("unclosed code fence", start)
        if self._text[first:last].strip():
            yield Piece("code", first, last, self._text[first:last])
        yield Piece("break", last, last, "code")

    def _indented(self, start: int, end: int) -> Iterator[Piece]:
        yield from self._break("code", start)
        while self._position < len(self._text):
            before = self._position
            begin, finish = self._line()
            if self._text[begin:finish].strip() and not _INDENTED.match(self._text, begin, finish):
                self._position = before
                break
            end = finish if self._text[begin:finish].strip() else end
        self._position = min(self._position, end + 1)
        yield Piece("code", start, end, self._text[start:end])
        yield Piece("break", end, end, "code")

    def _html(self, name: str, start: int) -> Iterator[Piece]:
        """An element that may hold blank lines, read as HTML to the end of the line that closes it."""
        closing = "-->" if name == "!--" else f"</{name}"
        found = None if closing in self._never else re.compile(closing, re.I).search(self._text, start)
        if found is None:
            self._never.add(closing)
            self._inline_line(start, self._position - 1)
            return
        yield from self._break("paragraph", start)
        newline = self._text.find("\n", found.end())
        self._position = len(self._text) if newline < 0 else newline + 1
        for piece in html_pieces(self._text[start : self._position], self._note):
            yield piece._replace(start=piece.start + start, end=piece.end + start)
        yield from self._break("paragraph", self._position)

    def _is_table(self, end: int) -> bool:
        newline = self._text.find("\n", end + 1)
        line = self._text[end + 1 : newline if newline >= 0 else None]
        return len(line) < 5000 and "|" in line and "-" in line and bool(_TABLE_RULE.match(line))

    def _table(self, start: int, end: int) -> Iterator[Piece]:
        yield from self._break("cell", start)
        while True:
            if not _TABLE_RULE.match(self._text[start:end]):
                begin = start
                for cut in _CELL_END.finditer(self._text, start, end):
                    if cut.group(1):
                        self._add(begin, cut.start())
                        yield from self._break("cell", cut.start())
                        begin = cut.end()
                self._add(begin, end)
                yield from self._break("cell", end)
            before = self._position
            start, end = self._line()
            if "|" not in self._text[start:end]:
                self._position = before
                return

    def _add(self, start: int, end: int) -> None:
        if end > start:
            self._run.add(self._text[start:end], start, end)

    def _break(self, name: str, place: int) -> Iterator[Piece]:
        yield from self._flush()
        yield Piece("break", min(place, len(self._text)), min(place, len(self._text)), name)

    def _flush(self) -> Iterator[Piece]:
        if len(self._run):
            run, self._run = self._run, Run()
            yield from inline(run, self._targets, self._note)
