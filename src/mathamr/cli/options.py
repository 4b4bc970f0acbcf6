"""Arguments and options that several verbs share, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mathamr.index.location import found_index

IndexFolder = Annotated[
    Path,
    typer.Argument(
        metavar="DIR",
        help="The index, or the notes it was made from.",
        show_default=False,
        callback=found_index,
    ),
]
IndexFolders = Annotated[
    list[Path],
    typer.Argument(
        metavar="DIR...",
        help="The index, or the notes it was made from; several are searched at once.",
        show_default=False,
        callback=lambda paths: [found_index(path) for path in paths],
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
Strategy = Annotated[
    str | None,
    typer.Option(
        help="A ranking of the index's system, by default its first:"
        " hybrid, maxsim, rerank, single or lexical for MathAMR+.",
        show_default=False,
    ),
]


def trust_parser(parser: str | None, model: str | None) -> None:
    """Allow an index to load the AMR parser that the user named: a third-party parser is code that would run."""
    if parser or model:
        from mathamr.amr.parser import vouch_for_parser

        vouch_for_parser(parser or "builtin", model)
