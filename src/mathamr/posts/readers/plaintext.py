"""Plain text: a note a file, a long one cut at its empty lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from mathamr.posts.identifiers import stable_name
from mathamr.posts.inputs import Head, read_text, shown, stem
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Link, Place, Post
from mathamr.posts.reader import Collection
from mathamr.posts.readers.document import WHOLE_BELOW, identifier
from mathamr.posts.report import Report

SUFFIXES = (".txt", ".text")
_GAP = re.compile(r"\n[ \t\r]*\n\s*|\f")
_WORD = re.compile(r"\S+")
_LETTERS = re.compile(r"[^\W\d_]{2}|[^\x00-\x7f]|\$")  # what a list of numbers beside a dump has none of
_UNDERLINE = re.compile(r"[=\-~*]{3,}")
_NOT_PROSE = re.compile(
    r"(?:requirements.*|constraints.*|robots|humans|cmakelists|top_level|entry_points|sources|manifest)"
)


class PlainTextReader:
    """Reads text with `$`-math: the title is a first line that stands alone, else the file's name.

    Of a long text each stretch of some 400 words, cut at an empty line, is a post: it has no headings to go by.
    """

    description: ClassVar[str] = "plain text with formulas between dollars"

    @classmethod
    def recognises(cls, head: Head) -> bool:
        """Named so, and text; lists that programs read are none."""
        return (
            head.suffix in SUFFIXES
            and "\0" not in head.text
            and (not head.start or _LETTERS.search(head.text) is not None)
            and not _NOT_PROSE.fullmatch(Path(head.name).stem)
        )

    def read(self, collection: Collection, report: Report) -> Iterator[Post]:
        """The posts of each file in the order of its text."""
        for file in collection.files:
            report.at(shown(file))
            source = read_text(file, report)
            if source is not None and source.strip():
                yield from _posts(source, file, identifier(file, collection.root), report)


def _posts(source: str, file: Path, name: str, report: Report) -> Iterator[Post]:
    title, start = _title(source)
    title = title or stem(Path(name))
    line = done = 0
    taken: dict[str, int] = {}
    for number, (begin, end) in enumerate(_stretches(source, start)):
        line += source.count("\n", done, begin)
        done = begin
        own = (
            name
            if not number
            else f"{name}#{stable_name(' '.join(source[begin:end][:60].split()[:6]), source[begin:end][:300])}"
        )
        taken[own] = taken.get(own, 0) + 1
        own = own if taken[own] == 1 else f"{own}-{taken[own]}"
        body = source[begin:end]
        yield Post(
            id=own,
            kind="note",
            body=body,
            title=title,
            markup="text",
            links=(Link(name),) if number else (),
            source=shown(file),
            formulas=formulas_of(own, title, body, "text", report.note),
            place=Place(name, 1 if not number else line + 1),
        )


def _title(source: str) -> tuple[str, int]:
    """A first line that an empty line or a rule follows, and where the text after it begins."""
    start = len(source) - len(source.lstrip())
    lines = source[start : start + 1000].split("\n", 2)
    if len(lines) < 2 or len(lines[0]) > 120:
        return "", start
    if _UNDERLINE.fullmatch(lines[1].strip()):
        return lines[0].strip(), start + len(lines[0]) + len(lines[1]) + 2
    is_alone = (
        not lines[1].strip() and len(lines) > 2 and not lines[0].rstrip().endswith((".", ",", ":", ";"))
    )
    return (lines[0].strip(), start + len(lines[0]) + 1) if is_alone else ("", start)


def _stretches(source: str, start: int) -> Iterator[tuple[int, int]]:
    words, begin, done = 0, start, start
    for gap in _GAP.finditer(source, start):
        words += sum(1 for _ in _WORD.finditer(source, done, gap.start()))
        done = gap.end()
        if words >= WHOLE_BELOW:
            yield begin, gap.start()
            words, begin = 0, gap.end()
    if source[begin:].strip() or begin == start:
        yield begin, len(source)
