"""`mathamr shell`: an index that stays open, and a prompt to ask it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def command(
    index: Annotated[Path, typer.Argument(metavar="DIR", help="The index.", show_default=False)],
    model: Annotated[
        str | None, typer.Option(help="Where the index's model is now: a folder, or a name.")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:NUMBER.")] = "auto",
    editor: Annotated[
        str | None, typer.Option(help="Give each hit an address that opens it, as in mathamr search.")
    ] = None,
) -> None:
    """Ask an index one query after another; it is loaded once."""
    from mathamr.cli.shellsession import ShellSession
    from mathamr.search.editors import check_editor
    from mathamr.search.searcher import Index

    if editor is not None:
        check_editor(editor)
    if sys.stdin.isatty():
        import readline  # noqa: F401  (makes input() remember lines)
    with Index.open(index, device=device, model=model) as opened:
        print(f"{len(opened):,} posts; loading the model …", file=sys.stderr, flush=True)
        opened.warm()
        asking = ShellSession(opened, editor)
        prompt = "? " if sys.stdin.isatty() else ""
        while (line := _line(prompt)) is not None:
            if not asking.take(line):
                return


def _line(prompt: str) -> str | None:
    try:
        return input(prompt)
    except (EOFError, KeyboardInterrupt):
        return None
