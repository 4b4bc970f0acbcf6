"""`mathamr search`: hits for a query, for people or as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mathamr.posts.postkind import KINDS
from mathamr.search.editors import EDITORS

if TYPE_CHECKING:
    from mathamr.search.hits import Hits
    from mathamr.search.query import Query
    from mathamr.systems.ranking import Task


def command(
    index: Annotated[Path, typer.Argument(metavar="DIR", help="The index.", show_default=False)],
    query: Annotated[
        str,
        typer.Argument(
            metavar="QUERY",
            help="Text with $latex$, or a formula alone; ?x in a formula stands for anything. - reads standard input.",
            show_default=False,
        ),
    ],
    task: Annotated[
        str | None,
        typer.Option(
            help="answers finds posts, formulas finds formulas.",
            show_default="answers, where the index's model looks for them",
        ),
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            help="A ranking of the index's system, by default its first:"
            " hybrid, maxsim, rerank, single or lexical for MathAMR+."
        ),
    ] = None,
    exact: Annotated[
        bool | None,
        typer.Option(
            "--exact/--approximate",
            help="Exact vector search, or as the engine approximates it; by default exact unless vectors are on a server.",
            show_default=False,
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", help="How many hits.", min=1)] = 10,
    offset: Annotated[int, typer.Option(help="How many hits to leave out before them.", min=0)] = 0,
    mark: Annotated[
        int | None,
        typer.Option(help="With --task formulas: which formula of the query is meant, from 1.", min=1),
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option(help=f"Only of this kind: {', '.join(KINDS)}. Repeatable.")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="Only with this tag. Repeatable: all of them.")
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option(help="Only from this file, named as hits name it: by its full path. Repeatable."),
    ] = None,
    folder: Annotated[
        list[str] | None,
        typer.Option(
            "--folder", help="Only from files in this folder, named by any end of its path. Repeatable."
        ),
    ] = None,
    after: Annotated[str | None, typer.Option(help="Only of this date or later: 2020, 2020-05-17.")] = None,
    before: Annotated[str | None, typer.Option(help="Only earlier than this date.")] = None,
    minimum_score: Annotated[int | None, typer.Option(help="Only with at least so many votes.")] = None,
    pool: Annotated[int, typer.Option(help="Posts that rerank looks at again.", min=1)] = 1000,
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
    editor: Annotated[
        str | None,
        typer.Option(
            help=f"Give each hit an address that opens it: {', '.join(EDITORS)}, or one with {{path}} and {{line}}."
        ),
    ] = None,
    local: Annotated[
        bool, typer.Option("--local", help="Search here, even if a server of the index is running.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")] = False,
) -> None:
    """Search an index: posts that answer a query, or formulas like the one in it.

    Where a server of the index runs on this machine, it is asked, and nothing has to be loaded.
    """
    from mathamr.cli.querychecks import check_argument_order, shell_quoting_hint
    from mathamr.core.errors import UnknownNameError
    from mathamr.search.editors import check_editor
    from mathamr.search.query import Query
    from mathamr.systems.ranking import TASKS

    check_argument_order(index, query)
    if hint := shell_quoting_hint(query):
        print(f"mathamr: {hint}", file=sys.stderr)
    if task is not None and task not in TASKS:
        raise UnknownNameError("task", task, list(TASKS))
    if editor is not None:
        check_editor(editor)
    chosen = next((each for each in TASKS if each == task), None) or _usual_task(index)
    text = sys.stdin.read() if query == "-" else query
    asked = Query.of_text(text, chosen)
    if mark is not None:
        asked = asked.marked(mark)
    own = mark is not None or pool != 1000 or model or parser or parser_model or device != "auto"
    hits = None
    if not (local or own):
        request = {
            "q": text, "task": chosen, "strategy": strategy, "k": k, "offset": offset, "exact": exact,
            "filter": {
                "kinds": kind or [], "tags": tag or [], "sources": source or [], "folders": folder or [],
                "after": after, "before": before, "minimum_score": minimum_score,
            },
        }  # fmt: skip
        hits = _from_server(index, asked, request)
    if hits is None:
        from mathamr.amr.parser import vouch_for_parser
        from mathamr.index.engines.entry import Filter
        from mathamr.search.searcher import Index

        where = Filter(tuple(kind or ()), tuple(tag or ()), after, before, minimum_score, tuple(source or ()))
        if parser or parser_model:
            vouch_for_parser(parser or "builtin", parser_model)
        with Index.open(index, device=device, model=model) as opened:
            where = opened.within(folder or (), where)
            hits = opened.search(
                asked, chosen, strategy, k, offset=offset, exact=exact, where=where, pool=pool
            )
    if as_json:
        print(json.dumps(_json(hits, editor), ensure_ascii=False))
        return
    from mathamr.cli.hitdisplay import show_hits

    show_hits(hits, editor=editor)


def _usual_task(index: Path) -> Task:
    """Answers, unless the model of the index has no vectors of posts: then it looks for formulas alone."""
    from mathamr.index.manifest import Manifest

    fields = Manifest.read(index.expanduser()).model.fields
    return "answers" if any(field.of == "posts" for field in fields) else "formulas"


def _from_server(index: Path, asked: Query, request: dict[str, Any]) -> Hits | None:
    """The hits that a running server of the index gives; `None` where there is none, or it does not answer."""
    from mathamr.serve.presence import server_of

    address = server_of(index)
    if address is None:
        return None
    from mathamr.serve.client import ServerGoneError, search_at

    try:
        return search_at(address, index, asked, request)
    except ServerGoneError as error:
        print(f"mathamr: {error}; searching without it", file=sys.stderr)
        return None


def _json(hits: Hits, editor: str | None) -> dict[str, Any]:
    """The hits, with the address that opens each where an editor is named."""
    from mathamr.search.editors import address_in

    row = hits.to_json()
    if editor is not None:
        for hit, shown in zip(hits, row["hits"], strict=True):
            shown["open"] = address_in(editor, hit.source, hit.place.line if hit.place else 1)
    return row
