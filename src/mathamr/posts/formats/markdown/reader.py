"""Folders of Markdown notes: a short note is one post, a long one has a post for each section and each statement."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mathamr.posts.format import MARKDOWN_SUFFIXES, Collection
from mathamr.posts.formats.markdown.frontmatter import FrontMatter
from mathamr.posts.formats.markdown.links import Notes
from mathamr.posts.formats.markdown.outline import NotePart, outline
from mathamr.posts.inputs import STDIN, shown, stem
from mathamr.posts.markup import formulas_among, pieces, title_pieces
from mathamr.posts.post import Link, Place, Post
from mathamr.posts.report import Report

LARGEST = 16 << 20
"""Largest note in bytes."""


def read_markdown(collection: Collection, report: Report) -> Iterator[Post]:
    """Read notes: the id is the path in the folder, with `#anchor` for a section or a statement.

    Links of wikis, relative links, roles and cross-references between notes become links of the posts.
    """
    notes = Notes(collection, MARKDOWN_SUFFIXES)
    for file, note, text in collection.texts(report, LARGEST):
        front = FrontMatter.read(text, report)
        parts = outline(text, front, stem(Path(note)))
        yield from note_posts(text, front, parts, notes, note, file, report)


def note_posts(
    text: str,
    front: FrontMatter,
    parts: list[NotePart],
    notes: Notes,
    note: str,
    file: Path,
    report: Report,
) -> Iterator[Post]:
    """The posts of the parts of a note."""
    path = file.name if file == STDIN else note
    ids = {id(part): f"{note}#{part.anchor}" if part.anchor else note for part in parts}
    for part in parts:
        identifier, body, title = ids[id(part)], part.body(text), ": ".join(part.titles)
        links = [Link(note)] if part.anchor else []
        links += [Link(ids[id(proof)], "proof") for proof in part.proofs]
        if part.proves is not None:
            links.append(Link(ids[id(part.proves)], "proof"))
        titled = list(title_pieces(title, "markdown", report.note))
        found = list(pieces(body, "markdown", report.note))
        links += notes.links(found, note, identifier, report)
        yield Post(
            id=identifier,
            kind=part.kind,
            body=body,
            title=title,
            markup="markdown",
            parent=ids[id(part.proves)] if part.proves is not None else None,
            tags=front.tags,
            links=tuple(dict.fromkeys(links)),
            date=front.date,
            source=shown(file),
            formulas=formulas_among(identifier, titled + found),
            place=Place(path, part.line, part.label, part.inside, part.cell),
            aliases=() if part.anchor else front.aliases,
        )
