"""Folders of Markdown notes: a short note is one post, a long one has a post for each section and each statement."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from mathamr.posts.bounds import bounded_title
from mathamr.posts.format import MARKDOWN_SUFFIXES, Collection
from mathamr.posts.formats.indexentries import distinct, hashtags
from mathamr.posts.formats.markdown.frontmatter import FrontMatter
from mathamr.posts.formats.markdown.links import Notes
from mathamr.posts.formats.markdown.outline import NotePart, outline
from mathamr.posts.inputs import LARGEST_SOURCE, STDIN, display_path, stem
from mathamr.posts.post import Link, Post
from mathamr.posts.report import Report


def read_markdown(collection: Collection, report: Report) -> Iterator[Post]:
    """Read notes: the id is the path in the folder, with `#anchor` for a section or a statement.

    Links of wikis, relative links, roles and cross-references between notes become links of the posts.
    """
    notes = Notes(collection, MARKDOWN_SUFFIXES)
    for file, note, text in collection.texts(report, LARGEST_SOURCE):
        front = FrontMatter.read(text, report)
        parts = outline(text, front, stem(Path(note)))
        yield from note_posts(front, parts, notes, note, file, report)


def note_posts(
    front: FrontMatter, parts: list[NotePart], notes: Notes, note: str, file: Path, report: Report
) -> Iterator[Post]:
    """Yield the posts of the parts of a note."""
    path = file.name if file == STDIN else note
    is_whole = {id(part) for part in parts if not part.id}
    for part in parts:
        part.id = f"{note}#{part.id}" if part.id else note
    for part in parts:
        own = [] if id(part) in is_whole else [Link(note)]
        yield part.post(
            "markdown",
            path,
            display_path(file),
            report,
            title=bounded_title(part.headings, report),
            links=chain(own, notes.links(part.body, note, part.id, report)),
            tags=distinct((*front.tags, *hashtags(part.body))),
            date=front.date,
            aliases=front.aliases if id(part) in is_whole else (),
        )
