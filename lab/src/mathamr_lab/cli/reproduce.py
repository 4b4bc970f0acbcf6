"""`mathamr reproduce`: measure figures of the docs again and say whether they hold."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ROW...]", help="Rows of the matrix; without a row they are listed."),
    ] = None,
    fast: Annotated[
        bool, typer.Option("--fast", help="Every row that needs the bundled sample alone.")
    ] = False,
    matrix: Annotated[
        Path | None, typer.Option(help="Another matrix than that of the laboratory.", show_default=False)
    ] = None,
) -> None:
    """Run the commands behind figures of the docs, and compare what they print with what the docs claim."""
    import tempfile
    import time

    from mathamr.evaluation.table import aligned
    from mathamr_lab.reproduction import MATRIX, chosen_rows, read_matrix, reproduce

    known = read_matrix(matrix or MATRIX)
    rows = chosen_rows(known, names or [], fast=fast)
    if not rows:
        table = [["row", "figures", "minutes", "needs", "docs"]]
        for row in known.values():
            needs = "the sample" if row.fast else "MATHAMR_DATA"
            table.append([row.name, str(len(row.figures)), f"{row.minutes:g}", needs, ", ".join(row.docs)])
        typer.echo(aligned(table))
        return
    failed = 0
    for row in rows:
        started = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            outcomes = reproduce(row, Path(folder))
        table = [[f"{row.name} ({time.perf_counter() - started:.0f} s)", "claimed", "measured", ""]]
        for outcome in outcomes:
            figure, measured = outcome.figure, outcome.measured
            shown = "not in the output" if measured is None else f"{measured:g}"
            verdict = "holds" if outcome.holds else "DOES NOT HOLD"
            table.append([figure.what, f"{figure.value:g} ± {figure.tolerance:g}", shown, verdict])
        failed += sum(not outcome.holds for outcome in outcomes)
        typer.echo(aligned(table))
    if failed:
        typer.echo(f"{failed} figures do not hold", err=True)
        raise typer.Exit(1)
