"""`mathamr train`: a system from posts to its model folder, or a graph network from the graphs of a store."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mathamr_lab.recipes.recipe import PREPARED, RECIPES, TrainingSettings, TrainingSources

if TYPE_CHECKING:
    from mathamr_lab.systems.mathamrplus.graph.command import GraphRequest


def command(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="[SYSTEM] PATH",
            help=f"SYSTEM is one of: {', '.join(RECIPES)}. Without it the graph network of MathAMR+ is trained alone."
            " PATH is a store of graphs (made by mathamr graph --out), or a shard exported from one.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the model (of a system: in OUT/model), its cards and checkpoints; goes on where it stopped."
        ),
    ] = None,
    posts: Annotated[
        list[Path] | None,
        typer.Option(
            help="The posts that the graphs were made of, for a system that reads text. Repeatable."
        ),
    ] = None,
    config: Annotated[
        str | None,
        typer.Option(help="Named configuration: box (of a system by default), thesis, thesis-full or small."),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="[STAGE.]NAME=VALUE",
            help="Change a field of the configuration, of a system with the stage before it. Repeatable.",
        ),
    ] = None,
    stages: Annotated[
        str | None, typer.Option(help="Only these stages of a system, with commas between them.")
    ] = None,
    prepare: Annotated[
        Path | None,
        typer.Option(
            help="Only write the folder that the training of a system reads, for a machine that only trains."
        ),
    ] = None,
    base: Annotated[
        Path | None,
        typer.Option(help="Text encoder of a system to start from, instead of all-MiniLM-L6-v2."),
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
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:NUMBER.")] = "auto",
    threads: Annotated[int, typer.Option(help="Threads that make batches ahead.", min=0)] = 1,
    minutes: Annotated[
        float | None, typer.Option(help="Stop after so many minutes; the same command goes on.", min=0)
    ] = None,
    half: Annotated[bool, typer.Option("--half", help="Store the weights in sixteen bits.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Do not go on from a checkpoint.")] = False,
) -> None:
    """Train a system, or a graph network alone, on pairs of questions and answers; print one JSON object an epoch."""
    if len(what) > 2:
        raise typer.BadParameter("expected [SYSTEM] PATH")
    path, chosen = Path(what[-1]), tuple(changes or ())
    run = _Run(out=out, device=device, threads=threads, minutes=minutes, fresh=fresh)
    sources = TrainingSources(
        path=path,
        posts=tuple(posts or ()),
        graphs=graphs,
        accepted=accepted,
        without=tuple(without or ()),
        base=base,
    )
    if len(what) == 2:
        if export is not None or half:
            name = "--half" if export is None else "--export"
            raise typer.BadParameter(f"{name} belongs to the graph network alone: mathamr train PATH")
        settings = TrainingSettings(
            config=config or next(iter(RECIPES[what[0]].configurations)),
            changes=chosen,
            stages=tuple(stages.split(",")) if stages else (),
        )
        _train_system(what[0], sources, settings, prepare, run)
        return
    if posts or stages or prepare or base:
        raise typer.BadParameter(
            f"--posts, --stages, --prepare and --base belong to a system: mathamr train SYSTEM PATH ({', '.join(RECIPES)})"
        )
    from mathamr_lab.systems.mathamrplus.graph.command import GraphRequest

    if (out is None) == (export is None):
        raise typer.BadParameter("give either --out, to train, or --export, to write a shard")
    if export is not None and (
        config or chosen or half or fresh or (device, threads, minutes) != ("auto", 1, None)
    ):
        raise typer.BadParameter(
            "--config, --set, --half, --fresh, --device, --threads and --minutes act on training; --export does not train"
        )
    request = GraphRequest(
        shard=path,
        out=out or Path(),
        config=config or "thesis",
        changes=chosen,
        device=device,
        threads=threads,
        minutes=minutes,
        half=half,
        fresh=fresh,
    )
    _train_graph(request, sources, export)


@dataclass(frozen=True, kw_only=True)
class _Run:
    """Where and with which options a system is trained."""

    out: Path | None
    device: str
    threads: int
    minutes: float | None
    fresh: bool


def _train_system(
    system: str, sources: TrainingSources, settings: TrainingSettings, folder: Path | None, run: _Run
) -> None:
    """Prepare the input of a system's training and, unless only preparing, train it."""
    if (run.out is None) == (folder is None):
        raise typer.BadParameter("give either --out, to train, or --prepare, to write what training reads")
    if run.out is None and (run.device, run.threads, run.minutes) != ("auto", 1, None):
        raise typer.BadParameter(
            "--device, --threads and --minutes act on training; --prepare does not train"
        )
    from mathamr.core.device import chosen_device
    from mathamr_lab.recipes.prepared import prepare, train_prepared
    from mathamr_lab.training.resources import Resources

    folder = folder or Path(str(run.out)) / PREPARED
    prepare(system, sources, settings, folder, fresh=run.fresh)
    if run.out is None:
        return
    resources = Resources(device=chosen_device(run.device), threads=run.threads, minutes=run.minutes)
    for row in train_prepared(folder, run.out, resources, fresh=run.fresh):
        print(json.dumps(row), flush=True)


def _train_graph(request: GraphRequest, sources: TrainingSources, export: Path | None) -> None:
    """Train the graph network of MathAMR+ alone, or only writes the shard for its training."""
    from mathamr_lab.systems.mathamrplus.graph.command import train_graph
    from mathamr_lab.systems.mathamrplus.graph.configuration import configured
    from mathamr_lab.training.export import export_store

    configured(request.config, request.changes)
    if sources.path.is_dir():
        shard = export or request.out / "pairs.npz"
        said = export_store(
            sources.path, sources.graphs, shard, accepted_only=sources.accepted, without=sources.without
        )
        print(said, file=sys.stderr)
        request = replace(request, shard=shard)
    elif export is not None or sources.given():
        raise typer.BadParameter(
            "--export, --graphs, --without and --accepted choose graphs and pairs of a store, not of a shard"
        )
    progress = train_graph(request) if export is None else None
    for row in progress.history if progress else ():
        print(json.dumps(row))
