"""`mathamr mcp`: an index as tools of the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    index: Annotated[Path, typer.Argument(help="The index directory.", metavar="DIR")],
    model: Annotated[
        Path | None, typer.Option(help="Where the index's model is, if no longer where it was.")
    ] = None,
    device: Annotated[str, typer.Option(help="Where the model runs: auto, cpu, cuda.")] = "auto",
    parser: Annotated[
        str | None, typer.Option(help="The index's AMR parser, if it is not mathamr's own, as module:Class.")
    ] = None,
    parser_model: Annotated[
        str | None, typer.Option(help="The model of that parser, if the index names one.")
    ] = None,
) -> None:
    """Serve an index as MCP tools on standard input and output, as clients that start their servers expect."""
    from mathamr.adapters.mcp import tools
    from mathamr.amr.parser import vouch_for_parser
    from mathamr.search.searcher import Index

    if parser or parser_model:
        vouch_for_parser(parser or "builtin", parser_model)
    with Index.open(index, device=device, model=model) as opened:
        tools(opened).run("stdio")
