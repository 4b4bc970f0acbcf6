"""`mathamr restore`: read an index from a backup."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from mathamr.cli.options import Device, Model, Parser, ParserModel, Workers
from mathamr.core.terminal import visible


def command(
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="A file written by mathamr backup.", show_default=False)
    ],
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The new index directory.", show_default=False)
    ],
    model: Model = None,
    device: Device = "auto",
    workers: Workers = None,
    parser: Parser = None,
    parser_model: ParserModel = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result of the check as one JSON object.")
    ] = False,
) -> None:
    """Restore an index from a backup into a new folder, check it, and compute what the backup lacks."""
    from mathamr.core.workers import processors
    from mathamr.index.admin.backup import restore
    from mathamr.index.indexing.builder import BuildOptions

    options = BuildOptions(
        model=model,
        device=device,
        workers=workers or processors(),
        parser=parser,
        parser_model=parser_model,
        show_progress=True,
    )
    report = restore(path, folder, options)
    if as_json:
        print(json.dumps(report.to_json(), ensure_ascii=False, indent=2))
    else:
        for line in report.lines():
            print(visible(line))
    if not report.sound:
        raise typer.Exit(1)
