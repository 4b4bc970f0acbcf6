"""`mathamr open`: the file of a hit in an editor, at its line."""

from __future__ import annotations

from typing import Annotated

import typer

from mathamr.cli.options import IndexFolder


def command(
    index: IndexFolder,
    hit: Annotated[
        str,
        typer.Argument(
            metavar="HIT", help="The id or the label of an entry, as hits show it.", show_default=False
        ),
    ],
    editor: Annotated[
        str | None,
        typer.Option(
            help="The command of the editor.", show_default="$VISUAL, $EDITOR, or code if it is installed"
        ),
    ] = None,
    only_print: Annotated[
        bool, typer.Option("--print", help="Print FILE:LINE instead of opening it.")
    ] = False,
) -> None:
    """Open the file of an entry at its line in your editor."""
    if only_print and editor is not None:
        raise typer.BadParameter("--print opens no editor: leave --editor out")
    from mathamr.core.terminal import visible
    from mathamr.search.editors import editor_command, file_of, open_in
    from mathamr.search.library import post_named
    from mathamr.search.searcher import Index

    with Index.open(index) as opened:
        post = post_named(opened.archive, hit)
    file, line = file_of(post)
    if only_print:
        print(visible(f"{file}:{line}"))
        return
    open_in(editor_command(editor), file, line)
