"""`mathamr serve`: serve the web page and the HTTP API of an index."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from mathamr.cli.inputoptions import Exclude, NoGitignore, exclusion
from mathamr.cli.options import Device, Model, Parser, ParserModel, trust_parser
from mathamr.core.settings import API_KEY
from mathamr.core.workers import ONE_THREAD
from mathamr.index.location import index_beside, is_index


def command(
    indexes: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR...",
            help="The index, or notes, which are indexed first; several are searched together.",
            show_default=False,
        ),
    ],
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
        typer.Option(
            help="A limit as NAME=VALUE, such as seconds=5; docs/api-reference.md lists them. Repeatable."
        ),
    ] = None,
    beside: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Another index, such as that of Mathlib, in which the page finds what corresponds to an entry.",
        ),
    ] = None,
    exclude: Exclude = None,
    no_gitignore: NoGitignore = False,
    watch: Annotated[
        bool | None,
        typer.Option(
            "--watch/--no-watch",
            help="Update the index whenever one of its files changes.",
            show_default="watch, if each DIR is notes and the server takes no writes",
        ),
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
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Log only errors.")] = False,
) -> None:
    """Serve an index: the page at / and the API under /v1, until Ctrl-C.

    Of a folder of notes, the index NOTES.index beside it is made or updated first, and follows the notes until the end.

    With MATHAMR_API_KEY set, clients that send this key may add and delete posts; with MATHAMR_READ_KEY set, searching
    needs a key too. The address of the page is printed on stdout when the server is ready.
    """
    # The processes of a server share the processors; threads of numpy's libraries would compete with each other.
    for name, value in ONE_THREAD.items():
        os.environ.setdefault(name, value)
    from mathamr.serve.launch import serve

    trust_parser(parser, parser_model)
    made = [index for index in indexes if is_index(index) or not index.expanduser().exists()]
    if made and (exclude is not None or no_gitignore):
        raise typer.BadParameter(
            f"{made[0]} is an index: give {'--no-gitignore' if exclude is None else '--exclude'} to mathamr index, which reads the files"
        )
    first, *others = [
        index
        if index in made
        else _indexed(index, device, exclusion(exclude, [index], no_gitignore=no_gitignore))
        for index in indexes
    ]
    serve(
        first,
        also=others,
        host=host,
        port=port,
        hosts=allow_host or (),
        model=model,
        device=device,
        limits=limit or (),
        log_queries=log_queries,
        editor=editor,
        beside=beside,
        quiet=quiet,
        json_log=json_log,
        processes=processes,
        watch=not (made or API_KEY.value) if watch is None else watch,
    )


def _indexed(notes: Path, device: str, exclude: tuple[str, ...] | None) -> Path:
    """Build or update the index of a folder of notes, and return the index folder."""
    from mathamr.cli.index import show_briefly
    from mathamr.core.workers import processors
    from mathamr.index.indexing.builder import BuildOptions, build_index

    out = index_beside(notes)
    options = BuildOptions(workers=processors(), device=device, exclude=exclude, show_progress=True)
    show_briefly(build_index([notes], out, options), sys.stderr)
    return out
