"""`mathamr plan`: the estimated time, disk and memory of an index."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mathamr.index.admin.plan import BuildPlan


def command(
    posts: Annotated[float | None, typer.Option(help="The number of posts: 2400000 or 2.4e6.")] = None,
    cores: Annotated[
        int | None,
        typer.Option(help="Processors of all machines.", min=1, show_default="those of this machine"),
    ] = None,
    gpus: Annotated[int, typer.Option(help="Accelerators of all machines.", min=0)] = 0,
    model: Annotated[
        str | None, typer.Option(help="The model.", show_default="the first that was measured")
    ] = None,
    engine: Annotated[
        str | None, typer.Option(help="The engine.", show_default="all that were measured")
    ] = None,
    letters: Annotated[
        float | None,
        typer.Option(help="Mean number of characters per post.", show_default="that of the measured posts"),
    ] = None,
    constants: Annotated[
        Path | None,
        typer.Option(help="A file printed by --measure, instead of the package's constants."),
    ] = None,
    measure: Annotated[
        bool, typer.Option("--measure", help="Measure this machine with some posts and print its constants.")
    ] = False,
    like: Annotated[
        Path | None,
        typer.Option(
            help="With --measure: posts like those to be indexed.", show_default="the bundled sample"
        ),
    ] = None,
    device: Annotated[str, typer.Option(help="With --measure: where the model runs.")] = "cpu",
    as_json: Annotated[bool, typer.Option("--json", help="Print the plan as one JSON object.")] = False,
) -> None:
    """Estimate the time, disk and memory of an index, and where the time goes.

    The figures are projected from the measured cost of one post.
    """
    from mathamr.core.workers import processors
    from mathamr.index.admin.constants import KnownConstants
    from mathamr.index.admin.plan import plan_build

    if measure and (posts, cores, gpus, letters, constants) != (None, None, 0, None, None):
        raise typer.BadParameter(
            "--measure prints constants, not a plan: leave --posts, --cores, --gpus, --letters and --constants out"
        )
    if not measure and (like is not None or device != "cpu"):
        raise typer.BadParameter("--like and --device belong to --measure")
    if measure:
        from mathamr.index.admin.measuring import measure as measured
        from mathamr.sample import folder

        row = measured(like or folder(), model=model, engine=engine, device=device)
        print(json.dumps(row.to_json(), indent=2))
        return
    if posts is None:
        raise typer.BadParameter("name the number of posts: --posts 2.4e6")
    plan = plan_build(
        KnownConstants.read(constants),
        posts=posts,
        cores=cores or processors(),
        gpus=gpus,
        model=model,
        engine=engine,
        letters=letters,
    )
    if as_json:
        print(json.dumps(plan.to_json(), indent=2))
    else:
        _show(plan)


def _show(plan: BuildPlan) -> None:
    from rich.table import Table

    from mathamr.cli.safeconsole import SafeConsole
    from mathamr.core.progress import duration

    console = SafeConsole()
    console.print(
        f"{plan.posts:,.0f} posts of {plan.letters_per_post:,.0f} letters, model {plan.model}, {plan.cores:,} processors,"
        f" {plan.gpus:,} accelerators: {duration(plan.seconds)} at most, {duration(plan.least_seconds)} at least",
        highlight=False,
    )
    stages = Table("stage", "by", "their work", "by the clock", "share", box=None, pad_edge=False)
    for stage in plan.stages:
        stages.add_row(
            stage.name,
            stage.by,
            f"{stage.work_seconds / 3600:,.1f} h",
            duration(stage.clock_seconds),
            f"{stage.clock_seconds / plan.seconds:.0%}",
        )
    console.print(stages)
    disk = ", ".join(f"{part} {_bytes(size)}" for part, size in plan.disk_bytes.items() if size)
    console.print(f"on disk {_bytes(sum(plan.disk_bytes.values()))}: {disk}", highlight=False)
    console.print(
        f"shards, while it is built on a cluster: {_bytes(plan.shard_bytes)}; memory of a worker {_bytes(plan.worker_bytes)},"
        f" of one a processor {_bytes(plan.cores * plan.worker_bytes)}",
        highlight=False,
    )
    engines = Table(
        f"engine, {plan.vectors:,.0f} vectors", "load", "disk", "memory", "a question", "measured",
        box=None, pad_edge=False,
    )  # fmt: skip
    for each in plan.engines:
        engines.add_row(
            each.engine,
            "with the build" if each.load_seconds is None else duration(each.load_seconds),
            _bytes(each.bytes),
            _bytes(each.memory_bytes),
            "–" if each.query_seconds is None else f"{_short(each.query_seconds)}, {each.strategy}",
            each.measured,
        )
    console.print(engines)
    for line in plan.drivers:
        console.print(f"- {line}", highlight=False)
    console.print(f"measured on {plan.measured}", highlight=False)


def _short(seconds: float) -> str:
    return f"{1000 * seconds:,.0f} ms" if seconds < 10 else f"{seconds:,.0f} s"


def _bytes(size: float | None) -> str:
    """A size in decimal units."""
    if size is None:
        return "–"
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            break
        size /= 1000
    return f"{size:,.0f} {unit}" if size >= 100 or unit == "B" else f"{size:,.1f} {unit}"
