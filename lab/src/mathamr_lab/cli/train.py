"""`mathamr train`: a system from posts or graphs to its model folder."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from mathamr.core.interruption import keeping
from mathamr.core.modelfolder import CONFIG
from mathamr_lab.recipes.recipe import (
    MODEL,
    PREPARED,
    RECIPES,
    ChecksUse,
    TrainingSettings,
    TrainingSources,
    named_recipe,
)


def command(
    system: Annotated[str, typer.Argument(help=f"One of: {', '.join(RECIPES)}.", show_default=False)],
    path: Annotated[
        Path,
        typer.Argument(
            help="What it learns from: for mathamr-plus a store of graphs (made by mathamr graph --out), for mathamr judged"
            " lines or a collection with topics and judgments of formulas, for the others posts.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the model (in OUT/model), its cards and checkpoints; goes on where it stopped."
        ),
    ] = None,
    posts: Annotated[list[Path] | None, typer.Option(help="Further posts to learn from. Repeatable.")] = None,
    config: Annotated[
        str | None,
        typer.Option(help="Named configuration, such as paper, thesis or small; that of the box by default."),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="STAGE.NAME=VALUE", help="Change a field of a stage's configuration. Repeatable."
        ),
    ] = None,
    stages: Annotated[str | None, typer.Option(help="Only these stages, with commas between them.")] = None,
    prepare: Annotated[
        Path | None,
        typer.Option(help="Only write the folder that the training reads, for a machine that only trains."),
    ] = None,
    base: Annotated[
        Path | None,
        typer.Option(
            help="Text encoder to start from, instead of all-MiniLM-L6-v2; for mathamr-plus, the one to join."
        ),
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
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:NUMBER.")] = "auto",
    threads: Annotated[int, typer.Option(help="Threads that make batches ahead.", min=0)] = 1,
    minutes: Annotated[
        float | None, typer.Option(help="Stop after so many minutes; the same command goes on.", min=0)
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            help="The most memory that training takes, of the GPU or of this process, as in 8GB; what is free by default. A step"
            " that needs more is computed in parts, or refused."
        ),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Do not go on from a checkpoint.")] = False,
) -> None:
    """Train a system, stage by stage; print one JSON object an epoch."""
    if (out is None) == (prepare is None):
        raise typer.BadParameter("give either --out, to train, or --prepare, to write what training reads")
    if out is None and (device, threads, minutes, memory) != ("auto", 1, None, None):
        raise typer.BadParameter(
            "--device, --threads, --minutes and --memory act on training; --prepare does not train"
        )
    from mathamr.core.device import chosen_device
    from mathamr_lab.recipes import prepared
    from mathamr_lab.training.resources import Resources, parse_bytes

    most_memory = None if memory is None else parse_bytes(memory)
    system = named_recipe(system)
    recipe = RECIPES[system]
    sources = TrainingSources(
        path=path,
        posts=tuple(posts or ()),
        graphs=graphs,
        accepted=accepted,
        without=tuple(without or ()),
        base=base,
    )
    settings = TrainingSettings(
        config=config or next(iter(recipe.configurations)),
        changes=tuple(changes or ()),
        stages=tuple(stages.split(",")) if stages else (),
    )
    if out is not None and isinstance(recipe, ChecksUse):
        recipe.check_use(settings, base)
    folder = prepare or Path(str(out)) / PREPARED
    with keeping(lambda: f"what was prepared is kept in {folder}; the same command goes on from there"):
        prepared.prepare(system, sources, settings, folder, fresh=fresh)
    if out is None:
        return
    resources = Resources(
        device=chosen_device(device), threads=threads, minutes=minutes, most_memory=most_memory
    )
    with keeping(lambda: f"the last checkpoint is kept in {out}; the same command goes on from there"):
        for row in prepared.train_prepared(folder, out, resources, fresh=fresh):
            print(json.dumps(row), flush=True)
    if (out / MODEL / CONFIG).exists():
        print(f"use it with: mathamr index POSTS --out INDEX --model {out / MODEL}", file=sys.stderr)
