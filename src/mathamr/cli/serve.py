"""`mathamr serve`: the web page and the HTTP API of an index."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    index: Annotated[Path, typer.Argument(help="The index directory.", metavar="DIR")],
    host: Annotated[
        str, typer.Option(help="Address to listen on; 127.0.0.1 is this machine only.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", "-p", help="Port to listen on; 0 takes a free one.", min=0, max=65535)
    ] = 8080,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="Another name the server answers to; may be repeated.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Where the index's model is now: a folder, or a name.")
    ] = None,
    device: Annotated[str, typer.Option(help="Where the model runs: auto, cpu, cuda.")] = "auto",
    parser: Annotated[
        str | None, typer.Option(help="The index's AMR parser, if it is not mathamr's own, as module:Class.")
    ] = None,
    parser_model: Annotated[
        str | None, typer.Option(help="The model of that parser, if the index names one.")
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option(
            help="Processes that answer side by side; a server that takes writes is one.",
            min=1,
            max=64,
            show_default="as many as there are processors, where that is possible",
        ),
    ] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            help="A limit as NAME=VALUE, such as seconds=5; may be repeated; docs/api.md lists them."
        ),
    ] = None,
    editor: Annotated[
        str | None,
        typer.Option(
            help="Let the page open posts in this editor, as in mathamr search; tells clients the full paths of files."
        ),
    ] = None,
    log_queries: Annotated[
        bool, typer.Option("--log-queries", help="Write the text of queries to the log.")
    ] = False,
    json_log: Annotated[
        bool, typer.Option("--json-log", help="Write the log as one JSON object a line.")
    ] = False,
    drain: Annotated[
        float,
        typer.Option(
            help="Seconds between SIGTERM and the end, in which /v1/ready says no and all else is answered.",
            min=0,
            max=3600,
        ),
    ] = 0.0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Log only what goes wrong.")] = False,
) -> None:
    """Serve an index: the page at / and the API under /v1, until Ctrl-C.

    A key in MATHAMR_API_KEY allows clients that have it to add and delete posts; MATHAMR_READ_KEY asks for a key for
    searching too. The address of the page is printed on stdout when the server answers.
    """
    from mathamr.amr.parser import vouch_for_parser
    from mathamr.serve.launch import serve

    if parser or parser_model:
        vouch_for_parser(parser or "builtin", parser_model)
    serve(
        index,
        host=host,
        port=port,
        hosts=allow_host or (),
        model=model,
        device=device,
        limits=limit or (),
        log_queries=log_queries,
        editor=editor,
        quiet=quiet,
        json_log=json_log,
        drain=drain,
        processes=processes,
    )
