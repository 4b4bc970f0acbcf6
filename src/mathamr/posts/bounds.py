"""The bounds on what posts hold against what was read, for all formats in one place.

A document repeats some words in each of its posts: its title and those of its sections, its tags and macros, in Lean the variables
of a section. A long name and many short sections make a large index of a small file. What is cut is counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from mathamr.posts.identifiers import LONGEST_ID
from mathamr.posts.inputs import size_of
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post
from mathamr.posts.report import Report

_TAG = re.compile(r"<[^<>]*>")
LONGEST_TITLE = 4000
"""Characters of a title, which may hold formulas in MathML."""
LONGEST_PATH = 600
"""Characters that are seen of a title with the headings above."""
LONGEST_WORDS = 200
"""Characters of the words of a link."""
SHORT_TITLE = 200
"""Characters of a title where those of a file repeat too much."""
FREELY = 1 << 20
"""Characters that the posts of any file may have."""
NAMES, ALL = 4, 20
"""The names of all posts of a file together have no more characters than so many times those of the file; the posts have no more than
so many: HTML is several times as long as `$x$`."""


def bounded_title(names: Iterable[str], report: Report, own: str = "") -> str:
    """Return a title of several names, such as those of the sections around a text; its own, or else the last, if they are too long.

    >>> bounded_title(["Limits", "Series"], Report())
    'Limits: Series'
    """
    shown = [cut_title(name, report) for name in names]
    joined = ": ".join(shown)
    if len(shown) < 2 or (len(joined) <= LONGEST_TITLE and len(_TAG.sub("", joined)) <= LONGEST_PATH):
        return joined
    report.skip("title too long", f"the headings around a text are left out of its title: {shown[-1][:60]!r}")
    return cut_title(own, report) or shown[-1]


def cut_title(title: str, report: Report, longest: int = LONGEST_TITLE) -> str:
    """Return a title, cut at a blank if it is too long."""
    if len(title) <= longest:
        return title
    report.skip(
        "title too long",
        f"a title of {len(title):,} characters, of which {longest:,} are read: {title[:60]!r}",
    )
    kept = title[:longest]
    return kept[: kept.rfind("<")] if kept.rfind("<") > kept.rfind(">") else kept.rpartition(" ")[0] or kept


def keep_bounds(posts: Iterator[Post], report: Report) -> Iterator[Post]:
    """Yield posts whose names, and which themselves, have a length in proportion to what was read of their file.

    `report` says which file is read, and how much of it was.
    """
    file, size, names, everything, begun, last = None, 0, 0, 0, 0, 0
    for post in posts:
        if report.file != file:
            file, names, everything, begun = report.file, 0, 0, last
            size = size_of(Path(file)) if file else 0
        last = report.characters
        read = size + last - begun
        own = sum(map(len, (post.title, *post.tags, *post.macros, *post.aliases, *post.keywords)))
        names += own
        if own > SHORT_TITLE and names > FREELY + NAMES * read:
            names -= own
            report.skip(
                "repeated names",
                f"the names in its posts are longer than the file; left out of {post.id[:60]!r}",
            )
            post = _with_short_names(post, report)
        labels = 0 if post.place is None else sum(map(len, post.place.labels))
        own = sum(
            map(
                len,
                (
                    post.id[:LONGEST_ID],
                    post.title,
                    post.body,
                    *post.tags,
                    *post.macros,
                    *post.aliases,
                    *post.keywords,
                ),
            )
        )
        everything += own + labels
        if everything > FREELY + ALL * read:
            everything -= own + labels
            report.skip(
                "output too large",
                f"its posts have more than {ALL} times the size of the file; {post.id[:60]!r} is left out",
            )
            continue
        yield post


def _with_short_names(post: Post, report: Report) -> Post:
    title = cut_title(post.title.rpartition(": ")[2], Report(), SHORT_TITLE)
    formulas = formulas_of(post.id, title, post.body, post.markup, report.note)
    return replace(post, title=title, tags=(), macros=(), aliases=(), keywords=(), formulas=formulas)
