"""`mathamr tune`: choose the weights of the default ranking for a collection."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from mathamr.cli.options import Device, Model
from mathamr.evaluation.tuning import COUNT


def command(
    index: Annotated[Path, typer.Argument(help="The index directory.", show_default=False)],
    count: Annotated[int, typer.Option(help="Known items of each form.", min=10)] = COUNT,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only measure; write nothing.")] = False,
    reset: Annotated[bool, typer.Option("--reset", help="Go back to the weights of the model.")] = False,
    model: Model = None,
    device: Device = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a table.")] = False,
) -> None:
    """Choose fusion weights from queries made of the collection's own titles, links, answers and formulas.

    Each kind of query is measured before and after by cross-validation; weights are written only where the gain is beyond noise.
    On our test collections there was none: try --dry-run first. If you have judged queries, trust `mathamr evaluate` more.
    """
    from mathamr.evaluation.table import aligned
    from mathamr.evaluation.tuning import tune, write_weights
    from mathamr.search.searcher import Index

    if reset:
        write_weights(index, {})
        print(f"{index} ranks by the weights of its model again", file=sys.stderr)
        return
    with Index.open(index, device=device, model=model) as opened:
        found = tune(opened, count)
    gains = [each.kind for each in found.kinds if each.gains]
    if gains and not dry_run:
        write_weights(index, found.weights)
    if as_json:
        print(json.dumps({**asdict(found), "written": bool(gains) and not dry_run}))
        return
    rows = [["query", "items", "MRR@10", "tuned", "difference, 95 %", "weights"]]
    for each in found.kinds:
        before, after, (low, high) = each.mrr_before, each.mrr_after, each.difference_interval
        chosen = " ".join(f"{name} {weight:g}" for name, weight in each.weights.items())
        figures = [f"{before:.3f}", f"{after:.3f}", f"{low:+.3f} to {high:+.3f}"]
        rows.append([each.kind, str(each.items), *figures, chosen if each.gains else "kept"])
    print(aligned(rows))
    if not gains:
        print("no kind of query gains beyond noise: nothing was written", file=sys.stderr)
    elif dry_run:
        print(f"nothing was written; without --dry-run: {', '.join(gains)}", file=sys.stderr)
    else:
        print(f"written for: {', '.join(gains)}; undo with: mathamr tune {index} --reset", file=sys.stderr)
