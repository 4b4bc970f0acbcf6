"""`mathamr doctor`: versions, models, and what is missing."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.markup import escape


def command(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a table.")] = False,
) -> None:
    """Show what this installation has and lacks; exit with code 1 if a required part is missing."""
    from mathamr.cli.environment import examine

    checkup = examine()
    if as_json:
        print(json.dumps(checkup.to_json(), ensure_ascii=False, indent=2))
    else:
        from mathamr.cli.safeconsole import SafeConsole

        console = SafeConsole(soft_wrap=True, highlight=False)
        marks = {"ok": "[green]✓[/]", "missing": "[red]✗[/]", "optional": "[dim]–[/]"}
        width = max(len(finding.name) for finding in checkup.findings)
        topic = ""
        for finding in checkup.findings:
            if finding.topic != topic:
                topic = finding.topic
                console.print(f"[bold]{topic}[/]")
            help_text = f"  [dim]{escape(finding.help)}[/]" if finding.help else ""
            console.print(
                f"  {marks[finding.state]} {finding.name:<{width}}  {escape(finding.value)}{help_text}"
            )
    if not checkup.healthy:
        raise typer.Exit(1)
