"""`mathamr serve`: serve the web page and the HTTP API of an index."""

from __future__ import annotations

from typing import Annotated

import typer

from mathamr.cli.options import Device, IndexFolder, Model, Parser, ParserModel, trust_parser


def command(
    index: IndexFolder,
    host: Annotated[
        str, typer.Option(help="Address to listen on; 127.0.0.1 is this machine only.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", "-p", help="Port to listen on; 0 chooses a free one.", min=0, max=65535)
    ] = 8080,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="Another host name that the server accepts. Repeatable.")
    ] = None,
    model: Model = None,
    device: Device = "auto",
    parser: Parser = None,
    parser_model: ParserModel = None,
    processes: Annotated[
        int | None,
        typer.Option(
            help="Server processes; a server that accepts writes has one.",
            min=1,
            max=64,
            show_default="one per processor, where possible",
        ),
    ] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(help="A limit as NAME=VALUE, such as seconds=5; docs/api.md lists them. Repeatable."),
    ] = None,
    editor: Annotated[
        str | None,
        typer.Option(
            help="Let the page open posts in this editor, as in mathamr search; shows clients the full paths of files."
        ),
    ] = None,
    log_queries: Annotated[
        bool, typer.Option("--log-queries", help="Write the text of queries to the log.")
    ] = False,
    json_log: Annotated[bool, typer.Option("--json-log", help="Write the log as JSON lines.")] = False,
    drain: Annotated[
        float,
        typer.Option(
            help="Seconds between SIGTERM and shutdown, in which /v1/ready fails and all else is answered.",
            min=0,
            max=3600,
        ),
    ] = 0.0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Log only errors.")] = False,
) -> None:
    """Serve an index: the page at / and the API under /v1, until Ctrl-C.

    With MATHAMR_API_KEY set, clients that send this key may add and delete posts; with MATHAMR_READ_KEY set, searching
    needs a key too. The address of the page is printed on stdout when the server is ready.
    """
    from mathamr.serve.launch import serve

    trust_parser(parser, parser_model)
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
