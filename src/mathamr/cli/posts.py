"""`mathamr posts`: what a reader finds in a file or folder."""

from __future__ import annotations

import json
import sys
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from mathamr.cli.inputoptions import Beside, Exclude, Format, NoGitignore, exclusion
from mathamr.core.errors import UnknownNameError
from mathamr.core.progress import Progress
from mathamr.posts.postcounts import PostCounts
from mathamr.posts.postkind import KINDS
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report


def command(
    path: Annotated[
        Path, typer.Argument(help="A file, a folder, or - for standard input.", show_default=False)
    ],
    format: Format = None,
    beside: Beside = None,
    exclude: Exclude = None,
    no_gitignore: NoGitignore = False,
    kind: Annotated[
        list[str] | None,
        typer.Option(help=f"Only posts of this kind: {', '.join(KINDS)}. Repeatable."),
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Stop after this many posts.", min=0)] = None,
    samples: Annotated[int, typer.Option(help="How many posts to show.", min=0, max=100)] = 3,
    as_json: Annotated[bool, typer.Option("--json", help="Print the counts as one JSON object.")] = False,
    as_jsonl: Annotated[
        bool, typer.Option("--jsonl", help="Print the posts, one JSON object per line.")
    ] = False,
) -> None:
    """Read posts and show counts, samples, and what was skipped, repaired or left out and why."""
    if as_json and as_jsonl:
        raise typer.BadParameter("--json and --jsonl exclude each other")
    for name in kind or ():
        if name not in KINDS:
            raise UnknownNameError("kind of post", name, list(KINDS))
    report, summary = Report(), PostCounts(0 if as_json or as_jsonl else samples)
    read = read_posts(
        path, report, format, beside or (), exclusion(exclude, [path], no_gitignore=no_gitignore) or ()
    )
    posts = islice((post for post in read if not kind or post.kind in kind), limit)
    with Progress("reading", "posts", total=limit, share=None if limit else report.share) as progress:
        report.on_bytes = lambda: progress.advance(0)
        for post in progress.each(summary.each(posts)):
            if as_jsonl:
                print(post.to_json())
    if as_json:
        print(json.dumps(summary.to_dict() | report.to_dict(), ensure_ascii=False, indent=2))
    elif as_jsonl:
        for line in report.lines():
            print(line, file=sys.stderr)
    else:
        from mathamr.cli.postdisplay import show_posts_read

        show_posts_read(summary, report)
