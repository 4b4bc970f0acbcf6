"""`mathamr fuse`: fuse several run files into one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def command(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN", help="Two or more run files in TREC or ARQMath format.", show_default=False
        ),
    ],
    out: Annotated[Path, typer.Option(help="The run file to write; - is standard output.")],
    fusion: Annotated[
        str,
        typer.Option(help="rrf (by ranks), score-rrf, max, mean, f1 or weighted-sum (by scores)."),
    ] = "rrf",
    weights: Annotated[
        str,
        typer.Option(help="The weight of each run, in order: 1,0.5.", show_default="equal weights"),
    ] = "",
    normalisation: Annotated[
        str | None,
        typer.Option(
            help="How the scores of a topic are normalised: min-max, top, z or none; by default the fusion's own."
        ),
    ] = None,
    depth: Annotated[int, typer.Option(help="Results per topic that are read and written.", min=1)] = 1000,
    name: Annotated[
        str, typer.Option(help="The name of the run.", show_default="the fusion and its runs")
    ] = "",
) -> None:
    """Fuse runs topic by topic; a topic that some runs lack is fused from the others."""
    from mathamr.evaluation.fusedruns import fuse_runs, remarks_on
    from mathamr.evaluation.runs import check_once, named_apart, read_run, write_run

    if len(runs) < 2:
        raise typer.BadParameter("give two runs or more")
    shares = _weights(weights, len(runs))
    check_once(runs)
    found = named_apart([read_run(each) for each in runs], runs)
    remarks = remarks_on(found)
    fused = fuse_runs(found, fusion, shares, normalisation=normalisation, depth=depth, name=name)
    write_run(fused, out, depth)
    for remark in remarks:
        print(remark, file=sys.stderr)
    results = sum(map(len, fused.rankings.values()))
    print(f"{len(found)} runs, {len(fused.rankings):,} topics, {results:,} results", file=sys.stderr)


def _weights(text: str, count: int) -> list[float] | None:
    """Parse `--weights`: one number for each of `count` runs, or None if it is empty."""
    if not text:
        return None
    try:
        found = [float(each) for each in text.split(",")]
    except ValueError:
        raise typer.BadParameter(f"--weights {text!r}: write numbers like 1,0.5") from None
    if len(found) != count:
        raise typer.BadParameter(f"--weights {text!r}: {count} runs need {count} weights, got {len(found)}")
    return found
