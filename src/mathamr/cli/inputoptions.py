"""Options of the verbs that read files: their format, what belongs to them, and what is left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from mathamr.index.location import is_index
from mathamr.posts.format import FORMATS
from mathamr.posts.ignorerules import NO_GITIGNORE
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report

Exclude = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATTERN",
        help="Leave out files of a folder, by a pattern as in .gitignore; an index remembers them, and --exclude ''"
        " forgets them. Repeatable.",
        show_default=False,
    ),
]
NoGitignore = Annotated[
    bool,
    typer.Option(
        "--no-gitignore",
        help="Read the files that .gitignore leaves out, too; an index remembers it as an --exclude.",
    ),
]
Format = Annotated[
    str | None,
    typer.Option("--format", "-f", help=f"The input format, instead of detecting it: {', '.join(FORMATS)}."),
]
Beside = Annotated[
    list[Path] | None,
    typer.Option("--beside", help="A table of formulas, MathML or links, or a folder of them. Repeatable."),
]


def exclusion(
    patterns: list[str] | None, inputs: Iterable[Path], *, no_gitignore: bool = False
) -> tuple[str, ...] | None:
    """Return the patterns of `--exclude` and `--no-gitignore`, or `None` if there are none.

    They need a folder among the inputs, if any is named.
    """
    if patterns is None and not no_gitignore:
        return None
    if (named := list(inputs)) and not any(path.expanduser().is_dir() for path in named):
        option = "--exclude" if patterns else "--no-gitignore"
        raise typer.BadParameter(f"{option} chooses among the files of a folder; no folder was named")
    given = tuple(pattern for pattern in patterns or () if pattern.strip())
    return (*given, NO_GITIGNORE) if no_gitignore else given


def posts_in(path: Path, patterns: list[str] | None = None, *, no_gitignore: bool = False) -> Iterator[Post]:
    """Yield the posts of an index, a file or a folder."""
    left_out = exclusion(patterns, [path], no_gitignore=no_gitignore) or ()
    if not (path.is_dir() and is_index(path)):
        yield from read_posts(path, Report(), exclude=left_out)
        return
    from mathamr.search.searcher import Index

    with Index.open(path) as index:
        yield from index.posts()
