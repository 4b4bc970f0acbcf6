"""`mathamr mcp`: an index as tools of the Model Context Protocol."""

from __future__ import annotations

from mathamr.cli.options import Device, IndexFolder, Model, Parser, ParserModel, trust_parser


def command(
    index: IndexFolder,
    model: Model = None,
    device: Device = "auto",
    parser: Parser = None,
    parser_model: ParserModel = None,
) -> None:
    """Serve an index as MCP tools on standard input and output, as clients that start their servers expect."""
    from mathamr.adapters.mcp import run
    from mathamr.search.searcher import Index

    trust_parser(parser, parser_model)
    with Index.open(index, device=device, model=model) as opened:
        run(opened)
