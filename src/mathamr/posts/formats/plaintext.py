"""Plain text: one note for each file; a long one is cut at empty lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mathamr.posts.format import Collection
from mathamr.posts.formats.outline import cuts
from mathamr.posts.identifiers import stable_name, unique
from mathamr.posts.inputs import display_path, stem
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Link, Place, Post
from mathamr.posts.report import Report

_GAP = re.compile(r"\n[ \t\r]*\n\s*|\f")
_WORD = re.compile(r"\S+")
_UNDERLINE = re.compile(r"[=\-~*]{3,}")


def read_text(collection: Collection, report: Report) -> Iterator[Post]:
    """Read text with `$`-math: the title is a first line followed by an empty one, else the file's name.

    A long text, which has no headings, becomes one post for some 400 words, cut at empty lines.
    """
    for file, path, source in collection.texts(report):
        if source.strip():
            yield from _posts(source, file, path, report)


def _posts(source: str, file: Path, name: str, report: Report) -> Iterator[Post]:
    title, start = _title(source)
    title = title or stem(Path(name))
    line = done = 0
    taken: dict[str, int] = {}
    for number, (begin, end) in enumerate(_stretches(source, start)):
        line += source.count("\n", done, begin)
        done = begin
        body = source[begin:end]
        anchor = stable_name(" ".join(body[:60].split()[:6]), body[:300])
        own = unique(f"{name}#{anchor}" if number else name, taken)
        yield Post(
            id=own,
            kind="note",
            body=body,
            title=title,
            markup="text",
            links=(Link(name),) if number else (),
            source=display_path(file),
            formulas=formulas_of(own, title, body, "text", report.note),
            place=Place(name, 1 if not number else line + 1),
        )


def _title(source: str) -> tuple[str, int]:
    """Return a first line that an empty line or a rule follows, and where the text after it begins."""
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
    gaps = {gap.start(): gap.end() for gap in _GAP.finditer(source, start)}
    begin = start
    for end in cuts(start, gaps, lambda *span: sum(1 for _ in _WORD.finditer(source, *span))):
        yield begin, end
        begin = gaps[end]
    if source[begin:].strip() or begin == start:
        yield begin, len(source)
