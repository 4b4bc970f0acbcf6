"""`mathamr explain`: why a post is found."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer


def command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The index.", show_default=False)],
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="The query, as for mathamr search.", show_default=False)
    ],
    identifier: Annotated[
        str, typer.Argument(metavar="ID", help="The id of a post or a formula.", show_default=False)
    ],
    png: Annotated[
        Path | None, typer.Option(help="Write the heatmap of all similarities to this file.")
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option(
            help="Of a formula: draw its trees beside the query's to this file, nodes that met alike."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a table.")] = False,
    model: Annotated[
        str | None, typer.Option(help="Where the index's model is now: a folder, or a name.")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:NUMBER.")] = "auto",
    parser: Annotated[
        str | None, typer.Option(help="The index's AMR parser, if it is not mathamr's own, as module:Class.")
    ] = None,
    parser_model: Annotated[
        str | None, typer.Option(help="The model of that parser, if the index names one.")
    ] = None,
) -> None:
    """Show which part of a post, or which node of a formula, met which of the query, and how well."""
    from mathamr.amr.parser import vouch_for_parser
    from mathamr.core.errors import MathAMRError
    from mathamr.search.searcher import Index

    text = sys.stdin.read() if query == "-" else query
    if parser or parser_model:
        vouch_for_parser(parser or "builtin", parser_model)
    with Index.open(folder, device=device, model=model) as index:
        match = index.explain_formula(text, identifier) if index.has_formula(identifier) else None
        wants_parts = match is None or png is not None or (as_json and index.explains_posts)
        alignment = index.explain(text, identifier) if wants_parts else None
        placed = index.placed(text, identifier) if match is None and "answers" in index.tasks else None
    if svg is not None:
        if match is None:
            raise MathAMRError(
                f"{identifier!r} is no formula: --svg draws the trees of formulas, --png posts"
            )
        try:
            svg.write_text(match.svg(), encoding="utf-8")
        except OSError as error:
            raise MathAMRError(f"cannot write {svg}: {error.strerror or error}") from error
        print(f"trees written to {svg}", file=sys.stderr)
    if png is not None and alignment is not None:
        from mathamr.search.heatmap import save_heatmap

        save_heatmap(alignment, png)
        print(f"heatmap written to {png}", file=sys.stderr)
    if as_json:
        said = alignment.to_json() if alignment else {}
        nodes = {"nodes": match.to_json()} if match else {"placed": placed.to_json() if placed else None}
        print(json.dumps(said | nodes, ensure_ascii=False))
        return
    from mathamr.cli.hitdisplay import show_alignment, show_formula_match, show_place

    if match is not None:
        show_formula_match(match)
    elif alignment is not None:
        show_alignment(alignment)
        show_place(placed)
