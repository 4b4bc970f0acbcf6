"""`mathamr shell`: a prompt for queries to an index that stays loaded."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from mathamr.cli.options import Device, IndexFolder, Model


def command(
    index: IndexFolder,
    model: Model = None,
    device: Device = "auto",
    editor: Annotated[
        str | None, typer.Option(help="Give each hit a link that opens it, as in mathamr search.")
    ] = None,
) -> None:
    """Search an index interactively; it is loaded once."""
    from mathamr.cli.shellsession import ShellSession
    from mathamr.search.editors import check_editor
    from mathamr.search.searcher import Index

    if editor is not None:
        check_editor(editor)
    if sys.stdin.isatty():
        import readline  # noqa: F401  (gives input() a history)
    with Index.open(index, device=device, model=model) as opened:
        print(f"{len(opened):,} posts; loading the model …", file=sys.stderr, flush=True)
        opened.warm()
        session = ShellSession(opened, editor)
        prompt = "? " if sys.stdin.isatty() else ""
        while (line := _line(prompt)) is not None:
            if not session.take(line):
                return


def _line(prompt: str) -> str | None:
    try:
        return input(prompt)
    except (EOFError, KeyboardInterrupt):
        return None
