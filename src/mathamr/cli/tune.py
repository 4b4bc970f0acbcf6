"""`mathamr tune`: choose the weights of the default ranking for a collection."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from mathamr.cli.options import Device
from mathamr.evaluation.tuning import COUNT


def command(
    index: Annotated[Path, typer.Argument(help="The index directory.", show_default=False)],
    count: Annotated[int, typer.Option(help="Known items of each form.", min=10)] = COUNT,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only measure; write nothing.")] = False,
    reset: Annotated[bool, typer.Option("--reset", help="Go back to the weights of the model.")] = False,
    device: Device = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a table.")] = False,
) -> None:
    """Choose fusion weights from queries made of the collection's own titles, links, answers and formulas.

    Each kind of query is measured before and after by cross-validation; weights are written only where the gain is beyond noise.
    """
    from mathamr.evaluation.table import aligned
    from mathamr.evaluation.tuning import tune, write_weights
    from mathamr.search.searcher import Index

    if reset:
        write_weights(index, {})
        print(f"{index} ranks by the weights of its model again", file=sys.stderr)
        return
    with Index.open(index, device=device) as opened:
        found = tune(opened, count)
    gains = [each.kind for each in found.kinds if each.is_gain]
    writes = bool(gains) and not dry_run
    if writes:
        write_weights(index, found.weights)
    if as_json:
        print(json.dumps({**found.to_json(), "written": writes}))
        return
    rows = [["query", "items", "MRR@10", "tuned", "difference, 95 %", "weights"]]
    for each in found.kinds:
        low, high = each.interval
        weights = " ".join(f"{name} {weight:g}" for name, weight in each.weights.items())
        rows.append(
            [
                each.kind,
                str(each.items),
                f"{each.before:.3f}",
                f"{each.after:.3f}",
                f"{low:+.3f} to {high:+.3f}",
                weights if each.is_gain else "kept",
            ]
        )
    print(aligned(rows))
    if not gains:
        print("no kind of query gains beyond noise: nothing was written", file=sys.stderr)
    elif dry_run:
        print(f"nothing was written; without --dry-run: {', '.join(gains)}", file=sys.stderr)
    else:
        print(f"written for: {', '.join(gains)}; undo with: mathamr tune {index} --reset", file=sys.stderr)
