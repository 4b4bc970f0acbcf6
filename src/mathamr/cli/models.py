"""`mathamr models`: the models that `--model` can name."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mathamr.systems.models import Model


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
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Print rankings and measured quality too.")
    ] = False,
    card: Annotated[
        bool, typer.Option("--card", help="Print a README.md in the format of the Hugging Face Hub.")
    ] = False,
) -> None:
    """List models with what each is for, and check their files; a named model is shown with its measured quality."""
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
    if card:
        print("\n".join(model.card() for model in found), end="")
        return
    if as_json:
        for model in found:
            print(json.dumps(model.to_json(), ensure_ascii=False))
        return
    if not models and not verbose:
        _show_choice(found)
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
                ", ".join(model.rankings(task)),
                f"{model.bytes / 1e6:.1f}" if first else "",
                "; ".join(f"{what} {value}" for what, value in measured.items()),
            )
    Console().print(table)
    for model in found:
        for line in model.about.get("measured", {}).get("notes", ()):
            print(f"{model.name}: {line}")


PURPOSES = {
    "mathamr-3": "notes, forums, books, formal libraries: take this one",
    "mathamr-2": "text with a graph network of share .05; slower to index",
    "mathamr-2-text": "its text alone: prefers the letters that a question uses",
    "mathamr-plus": "research: MathAMR+ as published, graphs without text; ask with --strategy maxsim",
    "formula-graph-paper": "research: formula graphs by the paper's loss; ask with --strategy max",
    "formula-graph": "research: formula graphs taught by the alignment of trees",
    "ssemb-paper": "research: SSEmb by the paper's loss; ask with --strategy paper",
    "ssemb": "research: SSEmb with a teacher",
    "mathamr-paper": "research: MathAMR as published, AMR with operator trees; ask with --strategy mathamr",
    "mathamr": "research: MathAMR with LaTeX in place of operator trees",
    "marf-paper": "research: MaRF by the paper's stages over a smaller base; ask with --strategy marf",
    "marf": "research: MaRF with one formula a post and a smaller base",
}


def _show_choice(models: Sequence[Model]) -> None:
    """Print one line for each model: what it is for."""
    from mathamr.systems.models import DEFAULT, IN_MORE, MORE, boxed

    width = max((len(model.name) for model in models), default=0)
    places = {name: place for place, name in enumerate(PURPOSES)}
    for model in sorted(models, key=lambda model: places.get(model.name, len(places))):
        print(
            f"{model.name:<{width}}  {PURPOSES.get(model.name, 'research: formulas alone' if 'answers' not in model.system.tasks else 'research')}"
        )
    missing = sorted(set(IN_MORE) - set(boxed()))
    if missing:
        print(f"\nNot installed: {', '.join(missing)}. To get them: pip install {MORE}")
    print(
        f"\n{DEFAULT} is the default; --model takes another. mathamr models -v prints sizes, rankings and measured quality."
    )
