"""`mathamr models`: the models that `--model` can name."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer


def command(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL]...",
            help="Names or folders; by default all installed models.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
) -> None:
    """List models with their system, tasks, rankings, size and measured quality, and check their files."""
    from rich.console import Console
    from rich.table import Table

    from mathamr.systems.models import boxed, checked_model

    found = []
    for name in models or boxed():
        try:
            found.append(checked_model(name))
        except ModuleNotFoundError as error:
            if models or error.name != "torch":
                raise
            print(
                f'mathamr: {name} is installed but needs torch: pip install "mathamr[torch]"', file=sys.stderr
            )
    if as_json:
        for model in found:
            print(json.dumps(model.to_json(), ensure_ascii=False))
        return
    table = Table("model", "system", "task", "rankings", "MB", "measured", box=None, pad_edge=False)
    for model in found:
        for task in sorted(model.system.tasks):
            first = task == min(model.system.tasks)
            measured = model.about.get("measured", {}).get(task, {})
            table.add_row(
                model.name if first else "",
                model.system.kind if first else "",
                task,
                ", ".join(model.system.rankings[task]),
                f"{model.bytes / 1e6:.1f}" if first else "",
                "; ".join(f"{what} {value}" for what, value in measured.items()),
            )
    Console().print(table)
    for model in found:
        for line in model.about.get("measured", {}).get("notes", ()):
            print(f"{model.name}: {line}")
