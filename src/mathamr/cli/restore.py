"""`mathamr restore`: an index from a backup."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from mathamr.core.terminal import visible


def command(
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="What mathamr backup wrote.", show_default=False)
    ],
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The new index directory.", show_default=False)
    ],
    model: Annotated[Path | None, typer.Option(help="Where the index's model is now.")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:NUMBER.")] = "auto",
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            "-j",
            help="Processes to build with.",
            min=1,
            show_default="as many as there are processors",
        ),
    ] = None,
    parser: Annotated[
        str | None, typer.Option(help="The index's AMR parser, if it is not mathamr's own, as module:Class.")
    ] = None,
    parser_model: Annotated[
        str | None, typer.Option(help="The model of that parser, if the index names one.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="The result of the check as one JSON object.")
    ] = False,
) -> None:
    """Make an index from a backup in a new folder, check it, and make again what the backup does not hold."""
    from mathamr.core.workers import processors
    from mathamr.index.admin.backup import restore
    from mathamr.index.build.builder import BuildOptions

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
