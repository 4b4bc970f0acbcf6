"""`mathamr plan`: what an index of so many posts takes, before anybody buys machines for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer


def command(
    measure: Annotated[bool, typer.Option("--measure", help="Measure this machine.")] = False,
    like: Annotated[Path | None, typer.Option(help="Posts to measure with.")] = None,
    model: Annotated[str | None, typer.Option(help="The model.")] = None,
    engine: Annotated[str | None, typer.Option(help="The engine.")] = None,
    device: Annotated[str, typer.Option(help="Where the model runs.")] = "cpu",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Say what an index takes: hours, disk, memory."""
    from mathamr.index.making.measuring import measure as measured
    from mathamr.sample import folder

    row = measured(like or folder(), model=model, engine=engine, device=device)
    print(json.dumps(row.to_json(), indent=2))
