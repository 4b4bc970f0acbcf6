"""`mathamr plan`: the estimated time, disk and memory of an index."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from mathamr.core.workers import processors
from mathamr_lab.planning import lines_of, measure_costs, plan_build, read_costs


def command(
    posts: Annotated[float | None, typer.Option(help="The number of posts: 2400000 or 2.4e6.")] = None,
    cores: Annotated[int | None, typer.Option(help="Processors of all machines.", min=1)] = None,
    gpus: Annotated[int, typer.Option(help="Accelerators of all machines.", min=0)] = 0,
    letters: Annotated[float | None, typer.Option(help="Mean number of characters per post.", min=1)] = None,
    costs: Annotated[Path | None, typer.Option(help="A file printed by --measure.")] = None,
    measure: Annotated[
        Path | None, typer.Option(help="Measure with posts of this input; print the costs.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="With --measure: the model.")] = None,
    engine: Annotated[str | None, typer.Option(help="With --measure: the engine.")] = None,
    device: Annotated[str, typer.Option(help="With --measure: where the model runs.")] = "cpu",
    as_json: Annotated[bool, typer.Option("--json", help="Print the plan as one JSON object.")] = False,
) -> None:
    """Estimate the time, disk and memory of an index from the measured costs of one post."""
    if measure is not None and (posts, cores, gpus, letters, costs, as_json) != (
        None,
        None,
        0,
        None,
        None,
        False,
    ):
        raise typer.BadParameter(
            "--measure prints costs, not a plan: leave --posts, --cores, --gpus, --letters, --costs and --json out"
        )
    if measure is None and (model, engine, device) != (None, None, "cpu"):
        raise typer.BadParameter("--model, --engine and --device belong to --measure")
    if measure is not None:
        print(json.dumps(asdict(measure_costs(measure, model, engine, device)), indent=2))
        return
    if posts is None:
        raise typer.BadParameter("name the number of posts: --posts 2.4e6")
    plan = plan_build(read_costs(costs), posts, cores or processors(), gpus, letters)
    if as_json:
        print(json.dumps(asdict(plan) | {"most": plan.most, "least": plan.least}, indent=2))
        return
    for line in lines_of(plan):
        print(line)
