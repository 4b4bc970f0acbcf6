"""`mathamr train`: an encoder from the graphs of a store."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer


def command(
    path: Annotated[
        Path,
        typer.Argument(
            help="A store of graphs (made by mathamr graph --out), or a shard exported from one.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the model, its card and checkpoint; goes on where it stopped."),
    ] = None,
    config: Annotated[
        str, typer.Option(help="Named configuration: thesis, thesis-full or small.")
    ] = "thesis",
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Change a field of the configuration. Repeatable."),
    ] = None,
    graphs: Annotated[
        str, typer.Option(help="Which tensors of the store: FORMULAS-STRUCTURE-AUXILIARY.")
    ] = "both-hierarchy-none",
    accepted: Annotated[bool, typer.Option("--accepted", help="Only accepted answers of the store.")] = False,
    without: Annotated[
        list[Path] | None,
        typer.Option(
            help="File of ids, one a line: pairs with such a post, or one below it (ID/…), are left out. Repeatable."
        ),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(help="Only write graphs and pairs to this file (.npz), for a machine that only trains."),
    ] = None,
    texts: Annotated[Path | None, typer.Option(help="Text vectors of the representatives (.npz).")] = None,
    labels: Annotated[
        Path | None, typer.Option(help="Text vectors of the labels to start from (.npy).")
    ] = None,
    negatives: Annotated[Path | None, typer.Option(help="Hard negatives (JSON lines).")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:NUMBER.")] = "auto",
    threads: Annotated[int, typer.Option(help="Threads that make batches ahead.", min=0)] = 1,
    minutes: Annotated[
        float | None, typer.Option(help="Stop after so many minutes; the same command goes on.", min=0)
    ] = None,
    half: Annotated[bool, typer.Option("--half", help="Store the weights in sixteen bits.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Do not go on from a checkpoint.")] = False,
) -> None:
    """Train an encoder on pairs of questions and answers; prints one JSON object an epoch."""
    if (out is None) == (export is None):
        raise typer.BadParameter("give either --out, to train, or --export, to write a shard")
    from mathamr.training.command import Request, configured, run
    from mathamr.training.export import export_store

    configured(config, changes or ())
    shard = path
    if path.is_dir():
        shard = export or Path(str(out)) / "pairs.npz"
        print(
            export_store(path, graphs, shard, accepted_only=accepted, without=without or ()), file=sys.stderr
        )
    elif export is not None or without or accepted:
        raise typer.BadParameter("--export, --without and --accepted choose pairs of a store, not of a shard")
    if out is None:
        return
    request = Request(
        shard,
        out,
        config,
        tuple(changes or ()),
        device,
        threads,
        texts,
        labels,
        negatives,
        minutes,
        half,
        fresh,
    )
    standing = run(request)
    for row in standing.history if standing else ():
        print(json.dumps(row))
