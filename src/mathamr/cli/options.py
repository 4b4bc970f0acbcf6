"""Arguments and options that several verbs share, each declared once."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from mathamr.index.location import found_index
from mathamr.posts.format import FORMATS
from mathamr.posts.ignorerules import NO_GITIGNORE

IndexFolder = Annotated[
    Path,
    typer.Argument(
        metavar="DIR",
        help="The index, or the notes it was made from.",
        show_default=False,
        callback=found_index,
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        help="The index's model, if it has moved or is an encoder of other people: a name or a folder.",
        show_default=False,
    ),
]
Device = Annotated[str, typer.Option(help="Where the model runs: auto, cpu, cuda or cuda:NUMBER.")]
Parser = Annotated[
    str | None,
    typer.Option(
        help="The index's AMR parser, if it is not one of mathamr's own, as module:Class.", show_default=False
    ),
]
ParserModel = Annotated[
    str | None, typer.Option(help="The model of that parser, if the index names one.", show_default=False)
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", "-j", help="Worker processes.", min=1, show_default="one per processor"),
]
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
Strategy = Annotated[
    str | None,
    typer.Option(
        help="A ranking of the index's system, by default its first:"
        " hybrid, maxsim, rerank, single or lexical for MathAMR+.",
        show_default=False,
    ),
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


def trust_parser(parser: str | None, model: str | None) -> None:
    """Allow an index to load the AMR parser that the user named: a third-party parser is code that would run."""
    if parser or model:
        from mathamr.amr.parser import vouch_for_parser

        vouch_for_parser(parser or "builtin", model)
