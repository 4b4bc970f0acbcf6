"""Posts by where they stand: those in a folder, and those that a label names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from mathamr.errors import MathAMRError
from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.index.engines.entry import Filter, Payload
from mathamr.posts.post import Post
from mathamr.search.ranked import Ranked

LABEL_MARK = "label:"
"""Before a label in a query, where it might be taken for a word."""


def lies_in(source: str, folder: str) -> bool:
    """Whether a source is a file in a folder, or that file, whichever stretch of the path names it.

    >>> lies_in("/home/ada/notes/limits/a.md", "notes/limits"), lies_in("/home/ada/notes/a.md", "note")
    (True, False)
    """
    wanted = PurePosixPath(folder.strip()).parts
    parts = PurePosixPath(source).parts
    return any(parts[start : start + len(wanted)] == wanted for start in range(len(parts) - len(wanted) + 1))


def within(catalogue: Catalogue, folders: Sequence[str], where: Filter) -> Filter:
    """A filter that also asks for posts of files in one of some folders."""
    if not folders:
        return where
    sources = catalogue.sources()
    inside = [source for source in sources if any(lies_in(source, folder) for folder in folders)]
    if where.sources:
        inside = [source for source in inside if source in where.sources]
    if not inside:
        raise MathAMRError(
            f"no post of the index lies in {' or '.join(map(repr, folders))}; its files are called as in"
            f" {PurePosixPath(min(sources, default='')).name!r}"
        )
    return replace(where, sources=tuple(inside))


def labelled_first(
    catalogue: Catalogue, text: str, found: list[Ranked], where: Filter | None, depth: int
) -> list[Ranked]:
    """What was found, with the posts before all others that the query names by their label."""
    label = text.strip().removeprefix(LABEL_MARK).strip()
    if not label or len(label.split()) > 1:
        return found
    order = catalogue.labelled(label)
    named = catalogue.posts(order)
    if where is not None:
        named = {name: post for name, post in named.items() if where.passes(_payload(post))}
    best = max((each.score for each in found), default=0.0)
    first = [Ranked(name, best + 1.0, {"label": 1.0}) for name in order if name in named]
    return [*first, *(each for each in found if each.id not in named)][:depth]


def _payload(post: Post) -> Payload:
    return Payload(post.kind, post.tags, post.date, post.score, post.source)
