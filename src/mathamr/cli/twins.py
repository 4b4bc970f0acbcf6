r"""`mathamr twins`: statements of a collection that say the same, or the statement of a library for each of a book."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Literal

import typer

from mathamr.cli.inputoptions import Exclude, NoGitignore, posts_in
from mathamr.core.errors import MathAMRError
from mathamr.core.terminal import visible
from mathamr.posts.post import Post
from mathamr.search.hits import shortened_text
from mathamr.search.twins import STATING, VERDICTS, Twins, twins

_LONGEST = 160
"""Characters of a statement that are printed."""


def command(
    path: Annotated[Path, typer.Argument(help="A file, a folder, or an index.", show_default=False)],
    beside: Annotated[
        Path | None,
        typer.Option(
            help=r"Another input or index, such as a Lean library: propose one of its statements for each, as \lean{…}.",
            show_default=False,
        ),
    ] = None,
    fail_on: Annotated[
        Literal["same", "formula", "contains", "near"] | None,
        typer.Option(help="Exit with 1 if a pair has this verdict or a stronger one.", show_default=False),
    ] = None,
    ignore: Annotated[
        Path | None,
        typer.Option(
            help="A file of pairs that are meant to be there: two ids a line, # begins a comment.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(help="Print at most this many pairs.", min=0, show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a pair.")] = False,
    exclude: Exclude = None,
    no_gitignore: NoGitignore = False,
) -> None:
    """Find pairs of statements that say the same, also in other letters and other words."""
    allowed = _pairs(ignore)
    ours = [post for post in posts_in(path, exclude, no_gitignore=no_gitignore) if post.kind in STATING]
    found = twins(ours, posts_in(beside)) if beside else twins(ours)
    kept = [pair for pair in found if frozenset((pair.first.post.id, pair.second.post.id)) not in allowed]
    kept.sort(key=lambda pair: (VERDICTS.index(pair.verdict), -pair.similarity))
    lines = _map(ours, kept, as_json=as_json) if beside else map(_json if as_json else _shown, kept)
    for number, line in enumerate(lines):
        if limit is not None and number >= limit:
            break
        print(line)
    strongest = ("same", "formula", "contains", "near").index(fail_on) if fail_on else -1
    if any(VERDICTS.index(pair.verdict) <= strongest for pair in kept):
        raise typer.Exit(1)


def _pairs(file: Path | None) -> set[frozenset[str]]:
    if file is None:
        return set()
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise MathAMRError(f"cannot read the pairs to ignore in {file}: {error}") from error
    return {frozenset(line.partition(" #")[0].split()) for line in lines if line.strip() and line[0] != "#"}


def _json(pair: Twins) -> str:
    return json.dumps(pair.to_dict(), ensure_ascii=False)


def _shown(pair: Twins) -> str:
    lines = [f"{pair.verdict} ({pair.similarity:.2f})"]
    lines += [
        f"  {each.post.where}  {each.post.id}\n    {shortened_text(f'{each.post.title}. {each.post.body}', _LONGEST)}"
        for each in (pair.first, pair.second)
    ]
    return visible("\n".join(lines))


def _map(ours: Iterable[Post], found: list[Twins], *, as_json: bool) -> Iterator[str]:
    r"""Yield for each statement the best of the other collection, with its `\lean{…}` if it is a declaration, or "nothing close"."""
    best: dict[str, Twins] = {}
    for pair in found:
        kept = best.get(pair.first.post.id)
        if kept is None or pair.similarity > kept.similarity:
            best[pair.first.post.id] = pair
    for post in ours:
        close = best.get(post.id)
        if as_json:
            yield (
                _json(close) if close else json.dumps({"verdict": "nothing close", "first": {"id": post.id}})
            )
            continue
        yield visible(f"{post.where}  {post.title}\n    {_proposed(close) if close else 'nothing close'}")


def _proposed(pair: Twins) -> str:
    other = pair.second.post
    name = (
        rf"\lean{{{other.title}}}"
        if other.kind == "declaration" or other.markup == "declaration"
        else other.title
    )
    return f"{name}  {pair.verdict} ({pair.similarity:.2f})  {other.where}"
