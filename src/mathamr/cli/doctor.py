"""`mathamr doctor`: versions, models, and what is missing."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def command(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a table.")] = False,
) -> None:
    """Says what this installation has and what it lacks; exit code 1 when something needed is missing."""
    from mathamr.environment import examine

    checkup = examine()
    if as_json:
        print(json.dumps(checkup.to_json(), ensure_ascii=False, indent=2))
    else:
        from rich.console import Console
        from rich.table import Table

        table = Table(box=None, pad_edge=False, show_header=False)
        marks = {"ok": "[green]✓[/]", "missing": "[red]✗[/]", "optional": "[dim]–[/]"}
        topic = ""
        for finding in checkup.findings:
            shown_topic = "" if finding.topic == topic else finding.topic
            topic = finding.topic
            table.add_row(
                f"[bold]{shown_topic}[/]",
                marks[finding.state],
                finding.name,
                finding.value,
                f"[dim]{finding.help}[/]",
            )
        Console().print(table)
    if not checkup.healthy:
        raise typer.Exit(1)
