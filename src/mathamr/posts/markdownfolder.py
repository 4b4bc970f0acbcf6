"""Folders of Markdown notes: a short note is one post, a long one a post a section."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar
from urllib.parse import unquote

from mathamr.posts.files import STDIN, Head, read_text, shown, stem
from mathamr.posts.frontmatter import FrontMatter
from mathamr.posts.markup import formulas_of, pieces
from mathamr.posts.post import Link, Post
from mathamr.posts.reader import Collection
from mathamr.posts.report import Report

SUFFIXES = (".md", ".markdown", ".mdown", ".mkd", ".qmd", ".rmd")
WHOLE_BELOW = 400
"""A note of fewer words stays one post."""
SECTION_FROM = 40
"""A section of fewer words is kept together with the next one."""

_FENCE = re.compile(r"[ \t]*(`{3,}(?!.*`)|~{3,})")
_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)\Z")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*\Z")
_PLAIN_LINE = re.compile(r" {0,3}[^\s>#|`~*+\-=\d]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_WORD = re.compile(r"\S+")
_NOT_IN_SLUG = re.compile(r"[^\w\- ]")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a note: its level, its text, and the line or lines [start, end) it stands in."""

    level: int
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a note that becomes a post: `slug` is empty for the first part."""

    slug: str
    titles: tuple[str, ...]
    start: int
    end: int


class MarkdownReader:
    """Reads notes: the id is the path in the folder, with `#heading` for a section of a long note.

    `[[wiki links]]` and relative links between notes become links of the posts.
    """

    description: ClassVar[str] = "Markdown notes: a file, or a folder of them"

    @classmethod
    def recognises(cls, head: Head) -> bool:
        """Named so, and text."""
        return head.suffix in SUFFIXES and "\0" not in head.text

    def read(self, collection: Collection, report: Report) -> Iterator[Post]:
        """The posts of each note in the order of its text."""
        notes = _Notes(collection)
        for file in collection.files:
            report.at(shown(file))
            text = read_text(file, report)
            if text is not None:
                yield from _posts(text, file, notes, report)


def _posts(text: str, file: Path, notes: _Notes, report: Report) -> Iterator[Post]:
    note = notes.identifier(file)
    front = FrontMatter.read(text, report)
    for section in sections(text, front, stem(Path(note))):
        identifier = f"{note}#{section.slug}" if section.slug else note
        title, body = ": ".join(section.titles), text[section.start : section.end]
        links = [Link(note)] if section.slug else []
        yield Post(
            id=identifier,
            kind="note",
            body=body,
            title=title,
            markup="markdown",
            tags=front.tags,
            links=tuple(dict.fromkeys([*links, *notes.links(body, note, identifier, report)])),
            date=front.date,
            source=shown(file),
            formulas=formulas_of(identifier, title, body, "markdown", report.note),
        )


def headings(text: str, start: int = 0) -> list[Heading]:
    """The headings of a Markdown text, those in fenced code left out."""
    found: list[Heading] = []
    fence = ""
    position, previous = start, (start, start)
    while position < len(text):
        newline = text.find("\n", position)
        end = len(text) if newline < 0 else newline
        line = text[position:end].rstrip("\r")
        mark = _FENCE.match(line)
        if fence:
            if mark and mark.group(1).startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif mark:
            fence = mark.group(1)
        elif heading := _ATX.match(line):
            title = _without_closing_marks(heading.group(2))
            found.append(Heading(len(heading.group(1)), title, position, min(end + 1, len(text))))
        elif (underline := _UNDERLINE.match(line)) and _PLAIN_LINE.match(text, *previous):
            level = 1 if underline.group(1)[0] == "=" else 2
            title = text[slice(*previous)].strip()
            found.append(Heading(level, title, previous[0], min(end + 1, len(text))))
        previous = (position, end)
        position = end + 1
    return found


def _without_closing_marks(heading: str) -> str:
    bare = heading.rstrip().rstrip("#")
    return bare.rstrip() if not bare or bare[-1].isspace() else heading.strip()


def slug(heading: str) -> str:
    """A heading as the anchor of a link, as on GitHub.

    >>> slug("The *Cauchy* inequality, again")
    'the-cauchy-inequality-again'
    """
    return _NOT_IN_SLUG.sub("", heading.strip().lower()).replace(" ", "-") or "section"


def sections(text: str, front: FrontMatter, name: str) -> list[Section]:
    """How a note is cut: whole where it is short, else before headings, small sections joined to the next.

    The title of the note is that of its front matter, or a first heading above all text, or the file's name. A
    section's titles are the headings above it, the note's title first.
    """
    found = headings(text, front.end)
    start, title = front.end, front.title
    if found and not text[front.end : found[0].start].strip() and (not title or title == found[0].text):
        title, start = title or found[0].text, found[0].end
        found = found[1:]
    title = title or name
    parts = [Section("", (title,), start, len(text))]
    if sum(1 for _ in _WORD.finditer(text, start)) < WHOLE_BELOW:
        return parts
    above: list[Heading] = []
    taken: dict[str, int] = {}
    for heading in found:
        while above and above[-1].level >= heading.level:
            above.pop()
        above.append(heading)
        last = parts[-1]
        if sum(1 for _ in _WORD.finditer(text, last.start, heading.start)) >= SECTION_FROM:
            anchor = slug(heading.text)
            taken[anchor] = taken.get(anchor, -1) + 1
            anchor += f"-{taken[anchor]}" if taken[anchor] else ""
            parts[-1] = Section(last.slug, last.titles, last.start, heading.start)
            titles = (title, *(part.text for part in above if part.text))
            parts.append(Section(anchor, titles, heading.end, len(text)))
    return parts


class _Notes:
    """The notes of one folder, found by path or by name."""

    def __init__(self, collection: Collection) -> None:
        self._root = collection.root
        self._files = {self.identifier(file): file for file in collection.files}
        self._by_name: dict[str, str] = {}
        for identifier in self._files:
            path = identifier.lower()
            self._by_name.setdefault(path, identifier)
            self._by_name.setdefault(posixpath.splitext(path)[0], identifier)
            self._by_name.setdefault(posixpath.splitext(posixpath.basename(path))[0], identifier)
        self._slugs = lru_cache(maxsize=1000)(self._read_slugs)

    def identifier(self, file: Path) -> str:
        """The id of a note: its path in the folder."""
        return "note" if file == STDIN else file.relative_to(self._root).as_posix()

    def links(self, body: str, note: str, identifier: str, report: Report) -> Iterator[Link]:
        """The links of a note's text to notes of the folder; those that lead to none are reported."""
        for piece in pieces(body, "markdown"):
            if piece.kind != "link" or _SCHEME.match(piece.text):
                continue
            wiki = piece.text.startswith("[[")
            path, _, anchor = (piece.text[2:-2] if wiki else unquote(piece.text)).partition("#")
            target = self._wiki(path, note) if wiki else self._relative(path, note)
            if target is not None:
                target = f"{target}#{slug(anchor)}" if slug(anchor) in self._slugs(target) else target
                if target != identifier:
                    yield Link(target, "mention")
            elif wiki or posixpath.splitext(path)[1].lower() in SUFFIXES:
                report.miss("link to no note", f"a link to {piece.text[:100]!r}, which is not in the folder")

    def _wiki(self, path: str, note: str) -> str | None:
        return self._by_name.get(path.strip().lower()) if path.strip() else note

    def _relative(self, path: str, note: str) -> str | None:
        if not path:
            return note
        target = posixpath.normpath(posixpath.join(posixpath.dirname(note), path))
        return next((name for name in (target, f"{target}.md") if name in self._files), None)

    def _read_slugs(self, identifier: str) -> frozenset[str]:
        file = self._files.get(identifier)
        unreported = Report()  # the file is reported on when it is read itself
        text = read_text(file, unreported) if file is not None and file != STDIN else None
        if text is None:
            return frozenset()
        front = FrontMatter.read(text, unreported)
        return frozenset(section.slug for section in sections(text, front, "") if section.slug)
