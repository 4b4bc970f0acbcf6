"""`mathamr notation`: the symbols of a collection, what they are said to be and where, and those that are never introduced."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from mathamr.cli.inputoptions import Exclude, NoGitignore, posts_in
from mathamr.core.terminal import visible
from mathamr.search.notation import NotationEntry, glossary, notation


def command(
    path: Annotated[
        Path, typer.Argument(help="A file, a folder, an index, or - for standard input.", show_default=False)
    ],
    symbol: Annotated[
        list[str] | None,
        typer.Option(help="Only this symbol, as the table writes it. Repeatable.", show_default=False),
    ] = None,
    clashes: Annotated[
        bool, typer.Option("--clashes", help="Only symbols introduced as different things.")
    ] = False,
    unknown: Annotated[
        bool, typer.Option("--unknown", help="Only symbols that are used and never introduced.")
    ] = False,
    patterns: Annotated[
        bool,
        typer.Option(
            "--patterns",
            help="Find introductions by patterns alone, without meaning graphs: faster, and fewer.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON array.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print a table of Markdown.")] = False,
    as_latex: Annotated[
        bool, typer.Option("--latex", help=r"Print entries for \printnomenclature of the package nomencl.")
    ] = False,
    exclude: Exclude = None,
    no_gitignore: NoGitignore = False,
) -> None:
    """List every symbol: where it is introduced and as what, how often it is used, and where it is introduced as something else."""
    if as_json + as_markdown + as_latex > 1:
        raise typer.BadParameter("--json, --markdown and --latex exclude each other")
    posts = posts_in(path, exclude, no_gitignore=no_gitignore)
    found = notation(posts, parser=None if patterns else "builtin")
    kept = [
        entry
        for entry in found
        if not (symbol and entry.symbol not in symbol)
        and not (clashes and len(entry.meanings) < 2)
        and not (unknown and entry.introductions)
    ]
    if as_json:
        print(json.dumps([entry.to_dict() for entry in kept], ensure_ascii=False, indent=2))
    elif as_latex:
        print(visible(glossary(kept)))
    elif as_markdown:
        print("| symbol | introduced as | where | formulas |\n|---|---|---|---|")
        print(visible("\n".join(map(_row, kept))))
    else:
        _show(kept)


def _row(entry: NotationEntry) -> str:
    places = ", ".join(dict.fromkeys(each.place for each in entry.introductions[:3]))
    cells = (f"${entry.latex}$", "; ".join(entry.meanings[:5]) or "–", places or "–", str(entry.uses))
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"


def _show(entries: list[NotationEntry]) -> None:
    from rich.table import Table
    from rich.text import Text

    from mathamr.cli.safeconsole import SafeConsole

    table = Table("symbol", "formulas", "introduced as", "where", box=None)
    for entry in entries:
        meanings = entry.meanings
        first = {
            meaning: next(each.place for each in entry.introductions if each.said == meaning)
            for meaning in meanings
        }
        said = "\n".join(" ".join(meaning.split()) for meaning in meanings) or "never introduced"
        where = "\n".join(first.values()) or f"first used in {', '.join(entry.posts[:1])}"
        table.add_row(Text(entry.symbol), str(entry.uses), Text(said), Text(where))
    SafeConsole().print(table)
