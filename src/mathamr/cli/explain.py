"""`mathamr explain`: why a hit was found."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from mathamr.cli.options import Device, IndexFolder, Model, Parser, ParserModel, trust_parser


def command(
    folder: IndexFolder,
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="The query, as for mathamr search.", show_default=False)
    ],
    identifier: Annotated[
        str, typer.Argument(metavar="ID", help="The id of a post or a formula.", show_default=False)
    ],
    png: Annotated[
        Path | None,
        typer.Option(
            help="Write the heatmap of all similarities of the query's parts to the post's to this file, as PNG (needs the"
            " extra png; --svg needs nothing)."
        ),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option(
            help="Draw to this file, as SVG: for a formula its trees and the query's, matched nodes in the same colour; for a"
            " post the heatmap."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a table.")] = False,
    model: Model = None,
    device: Device = "auto",
    parser: Parser = None,
    parser_model: ParserModel = None,
) -> None:
    """Show which part of a post, or node of a formula, matched which part of the query, and how well."""
    from mathamr.core.errors import MathAMRError
    from mathamr.search.searcher import Index

    text = sys.stdin.read() if query == "-" else query
    trust_parser(parser, parser_model)
    with Index.open(folder, device=device, model=model) as index:
        match = index.explain_formula(text, identifier) if index.has_formula(identifier) else None
        if png is not None and match is not None and not index.explains_posts:
            raise MathAMRError(
                f"the vectors of {index.archive.system_type.kind} stand for whole formulas, so a heatmap has no parts of a"
                " post to show; draw the nodes that matched with --svg FILE"
            )
        wants_parts = match is None or png is not None or (as_json and index.explains_posts)
        alignment = index.explain(text, identifier) if wants_parts else None
        placed = index.placed(text, identifier) if match is None and "answers" in index.tasks else None
    from mathamr.search.heatmap import save_heatmap

    if svg is not None and match is not None:
        try:
            svg.write_text(match.svg(), encoding="utf-8")
        except OSError as error:
            raise MathAMRError(f"cannot write {svg}: {error.strerror or error}") from error
        print(f"trees written to {svg}", file=sys.stderr)
    for path in (png, svg if match is None else None):
        if path is not None and alignment is not None:
            save_heatmap(alignment, path)
            print(f"heatmap written to {path}", file=sys.stderr)
    if as_json:
        row = alignment.to_json() if alignment else {}
        nodes = {"nodes": match.to_json()} if match else {"placed": placed.to_json() if placed else None}
        print(json.dumps(row | nodes, ensure_ascii=False))
        return
    from mathamr.cli.hitdisplay import show_alignment, show_formula_match, show_place

    if match is not None:
        show_formula_match(match)
    elif alignment is not None:
        show_alignment(alignment)
        show_place(placed)
