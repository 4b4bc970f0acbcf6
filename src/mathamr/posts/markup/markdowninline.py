"""The inline text of a Markdown block: math and code first, then links, HTML and emphasis."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

from mathamr.posts.markup.delimiters import OPENING, REFERENCE, MathScanner
from mathamr.posts.markup.html import BREAKS
from mathamr.posts.markup.html import pieces as html_pieces
from mathamr.posts.markup.piece import Note, Piece, Run
from mathamr.posts.markup.plain import formula

_TARGET = r"\(\s*(?:<[^<>\n]*>|(?:[^\s()<>]|\([^\s()]*\))*+)(?:\s+(?:\"[^\"\n]*\"|'[^'\n]*'))?\s*\)"
_TOKEN = re.compile(
    rf"""(?P<code>`+)
    |(?P<math>\$\$?|\\[(\[]|\\begin\s*\{{)
    |(?P<equation>{REFERENCE})
    |(?P<line>(?:[ ]{{2,}}|\\)(?:\n|\r\n?))
    |\\(?P<escaped>[!-/:-@\[-`{{-~])
    |(?P<wiki>!?\[\[(?P<page>[^\[\]|\n]+)(?:\|(?P<alias>[^\[\]\n]*))?\]\])
    |(?P<image>!\[(?P<alt>[^\[\]\n]*)\](?:{_TARGET}|\[[^\[\]\n]*\]))
    |(?P<footnote>\[\^[^\[\]\s]+\])
    |(?P<open>\[)
    |(?P<close>\](?:(?P<target>{_TARGET})|\[(?P<reference>[^\[\]\n]*)\])?)
    |<(?P<auto>(?:https?|ftp|mailto):[^\s<>]*)>
    |(?P<html><!--|</?(?P<name>[a-zA-Z][a-zA-Z0-9-]*)(?:\s[^<>]*)?/?>)
    |(?P<entity>&(?:\#(?:\d{{1,7}}|[xX][0-9a-fA-F]{{1,6}})|[a-zA-Z][a-zA-Z0-9]{{1,31}});)
    |(?P<emphasis>\*+|(?<![^\W_])_+(?=\S)|(?<=\S)_+(?![^\W_])|~~|==)""",
    re.X | re.S,
)
_TICKS = re.compile("`+")
_ELEMENTS = frozenset(["math", "script", "style", "pre", "code", "svg", "span", "textarea"])
_PICTURE = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|bmp|pdf)\Z", re.I)


class _Change(NamedTuple):
    """Text [start, end) of the run that is not to be read as it stands, but as these pieces."""

    start: int
    end: int
    pieces: list[Piece]


def inline(run: Run, targets: dict[str, str], note: Note) -> Iterator[Piece]:
    """The pieces of a run of Markdown; `targets` are the addresses of reference links by label."""
    done = 0
    for change in _Inline(run, targets, note).changes():
        if change.start >= done:
            yield from run.pieces(done, change.start)
            yield from change.pieces
            done = change.end
    yield from run.pieces(done, len(run))


class _Inline:
    def __init__(self, run: Run, targets: dict[str, str], note: Note) -> None:
        self._run = run
        self._text = run.text()
        self._targets = targets
        self._note = note
        self._scanner = MathScanner(self._text)
        self._changes: list[_Change] = []
        self._brackets: list[tuple[int, int]] = []
        self._marks: dict[str, list[tuple[int, int]]] = {}
        self._ticks: dict[int, list[int]] = {}
        self._never: set[str] = set()

    def changes(self) -> list[_Change]:
        position = 0
        while match := _TOKEN.search(self._text, position):
            position = self._token(match)
        self._changes.sort(key=lambda change: change.start)
        return self._changes

    def _token(self, match: re.Match[str]) -> int:
        """Take note of what a token changes; where to read on."""
        start, end = match.span()
        kind = match.lastgroup if match.lastgroup in ("code", "math", "line", "open", "emphasis") else None
        if kind == "code":
            return self._code(start, end)
        if kind == "math":
            return self._math(start, end)
        if kind == "line":
            return self._replace(start, end, self._piece("text", start, end, "\u2028"))
        if kind == "open":
            self._brackets.append((start, end))
        elif kind == "emphasis":
            self._emphasis(match.group(), start, end)
        elif match["equation"]:
            return self._replace(start, end, self._piece("text", start, end, "(*)"))
        elif match["escaped"]:
            return self._replace(start, end, self._piece("text", start, end, match["escaped"]))
        elif match["wiki"]:
            return self._wiki(match)
        elif match["image"]:
            return self._replace(start, end, self._piece("image", start, end, match["alt"]))
        elif match["footnote"]:
            return self._replace(start, end)
        elif match["close"]:
            self._link(match)
        elif match["auto"]:
            link = self._piece("link", start, start + 1, match["auto"])
            return self._replace(start, end, link, self._piece("text", start + 1, end - 1, match["auto"]))
        elif match["entity"]:
            return self._replace(start, end, self._piece("text", start, end, unescape(match["entity"])))
        elif match["html"]:
            return self._html(match)
        return end

    def _replace(self, start: int, end: int, *pieces: Piece) -> int:
        self._changes.append(_Change(start, end, [piece for piece in pieces if piece.text]))
        return end

    def _piece(self, kind: str, start: int, end: int, text: str) -> Piece:
        return Piece(kind, *self._run.origin(start, end), text)  # type: ignore[arg-type]

    def _code(self, start: int, end: int) -> int:
        ticks = self._text[start:end]
        if not self._ticks:
            for match in _TICKS.finditer(self._text):
                self._ticks.setdefault(len(match.group()), []).append(match.start())
        places = self._ticks.get(len(ticks), [])
        following = bisect_left(places, end)
        if following == len(places):
            return end
        close = places[following]
        return self._replace(
            start, close + len(ticks), self._piece("code", end, close, self._text[end:close])
        )

    def _math(self, start: int, end: int) -> int:
        opening = OPENING.match(self._text, start)
        region = self._scanner.at(opening) if opening else None
        if region is None or region == "unclosed":
            if region:
                self._note(f"unclosed {self._text[start:end]}", self._run.origin(start, end)[0])
            if self._text[start] == "\\" and end == start + 2:
                return self._replace(start, end, self._piece("text", start, end, self._text[start + 1]))
            return start + 1
        self._changes.append(_Change(region.start, region.end, list(formula(self._run, region, self._note))))
        return region.end

    def _emphasis(self, mark: str, start: int, end: int) -> None:
        before, after = self._text[start - 1 : start], self._text[end : end + 1]
        opened = self._marks.setdefault(mark[0] + str(len(mark)), [])
        if opened and before and not before.isspace():
            self._replace(*opened.pop())
            self._replace(start, end)
        elif after and not after.isspace():
            opened.append((start, end))

    def _wiki(self, match: re.Match[str]) -> int:
        start, end = match.span()
        page, alias = match["page"].strip(), (match["alias"] or "").strip()
        if match["wiki"][0] == "!" and _PICTURE.search(page):
            return self._replace(start, end, self._piece("image", start, end, alias))
        shown = alias or page.replace("#", " ")
        link = self._piece("link", start, match.start("page"), f"[[{page}]]")
        return self._replace(start, end, link, self._piece("text", match.start("page"), end, shown))

    def _link(self, match: re.Match[str]) -> None:
        if not self._brackets:
            return
        start, end = self._brackets.pop()
        label = match["reference"] or self._text[end : match.start()]
        if match["target"]:
            target = _address(match["target"])
        else:
            target = self._targets.get(label.lower(), "") if len(label) < 1000 else ""
        if target or match["target"]:
            self._replace(start, end, self._piece("link", start, end, target))
            self._replace(*match.span())

    def _html(self, match: re.Match[str]) -> int:
        start, end = match.span()
        name = (match["name"] or "").lower()
        if not name:
            close = -1 if "-->" in self._never else self._text.find("-->", start)
            if close < 0:
                self._never.add("-->")
                return end
            return self._replace(start, close + 3)
        if name in BREAKS:
            return self._replace(start, end, self._piece("break", start, end, BREAKS[name]))
        if name in _ELEMENTS and match["html"][1] != "/" and f"</{name}" not in self._never:
            if closing := re.compile(rf"</{name}\s*>", re.I).search(self._text, end):
                end = closing.end()
            else:
                self._never.add(f"</{name}")
        found = []
        for piece in html_pieces(self._text[start:end], self._note):
            first, last = self._run.origin(start + piece.start, start + max(piece.end, piece.start + 1))
            found.append(piece._replace(start=first, end=last))
        return self._replace(start, end, *found)


def _address(target: str) -> str:
    """The address in the brackets of a link, without its title."""
    inside = target[1:-1].strip()
    if inside.startswith("<"):
        return inside[1 : inside.index(">")]
    return inside.split()[0] if inside else ""
