"""`mathamr search`: the hits of a query, as text or as JSON."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mathamr.cli.options import Device, IndexFolders, Model, Parser, ParserModel, Strategy, trust_parser
from mathamr.posts.postkind import KINDS
from mathamr.search.editors import EDITORS

if TYPE_CHECKING:
    from mathamr.posts.post import Post
    from mathamr.search.grouping import Grouping
    from mathamr.search.hits import Hits
    from mathamr.search.query import Query
    from mathamr.search.searcher import Index
    from mathamr.systems.ranking import Task

_MISSING_BASE = re.compile(r"(?:^|[\s(])[\^_](?=[\w{])")


def command(
    indexes: IndexFolders,
    query: Annotated[
        str,
        typer.Argument(
            metavar="QUERY",
            help="Text with $latex$, or a formula alone; ?x in a formula is a wildcard. Conditions:"
            ' "exact phrase", -word, title:word, tag:name, kind:name, in:folder. - reads standard input.',
            show_default=False,
        ),
    ],
    task: Annotated[
        str | None,
        typer.Option(
            help="answers finds posts, formulas finds formulas.",
            show_default="answers, if the index's model ranks posts",
        ),
    ] = None,
    strategy: Strategy = None,
    exact: Annotated[
        bool | None,
        typer.Option(
            "--exact/--approximate",
            help="Exact vector search, or the engine's approximation; by default exact unless vectors are on a server.",
            show_default=False,
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", help="Number of hits.", min=1)] = 10,
    offset: Annotated[int, typer.Option(help="Number of hits to skip.", min=0)] = 0,
    group: Annotated[
        bool | None,
        typer.Option(
            "--group/--no-group",
            help="Fold further sections of a document under the best one; -k and --offset then count groups.",
            show_default="grouped, except with --json and of formulas",
        ),
    ] = None,
    mark: Annotated[
        int | None,
        typer.Option(
            help="With --task formulas: the number of the query's formula to search for, from 1.", min=1
        ),
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option(help=f"Only posts of this kind: {', '.join(KINDS)}. Repeatable.")
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option(help="Only posts with this tag. Repeatable: posts with all of the tags."),
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option(help="Only posts from this file, by its full path, as hits show it. Repeatable."),
    ] = None,
    folder: Annotated[
        list[str] | None,
        typer.Option(
            "--folder",
            help="Only posts from files in this folder, named by any part of its path. Repeatable.",
        ),
    ] = None,
    module: Annotated[
        str | None,
        typer.Option(help="Only declarations of this Lean module and those below it: Mathlib.Order."),
    ] = None,
    namespace: Annotated[
        str | None, typer.Option(help="Only declarations of this namespace and those in it: Nat.")
    ] = None,
    origin: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Another index: QUERY is the id or the label of one of its posts, and what corresponds to it is found.",
        ),
    ] = None,
    after: Annotated[
        str | None, typer.Option(help="Only posts of this date or later: 2020, 2020-05-17.")
    ] = None,
    before: Annotated[str | None, typer.Option(help="Only posts before this date.")] = None,
    minimum_score: Annotated[
        int | None, typer.Option(help="Only posts with at least this many votes.")
    ] = None,
    pool: Annotated[int, typer.Option(help="Posts that rerank scores again.", min=1)] = 1000,
    model: Model = None,
    device: Device = "auto",
    parser: Parser = None,
    parser_model: ParserModel = None,
    editor: Annotated[
        str | None,
        typer.Option(
            help=f"Give each hit a link that opens it: {', '.join(EDITORS)}, or one with {{path}} and {{line}}."
        ),
    ] = None,
    citations: Annotated[
        bool, typer.Option("--cite", help="Print a BibTeX entry or key for each hit, with its line.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose", "-v", help="Print ids, the scores of each component and the time of each stage."
        ),
    ] = False,
) -> None:
    """Search one index or several: posts that answer a query, or formulas like the one in it."""
    from mathamr.core.errors import UnknownNameError
    from mathamr.search.editors import check_editor
    from mathamr.search.query import Query
    from mathamr.systems.ranking import TASKS

    for index in indexes:
        check_argument_order(index, query)
    if hint := shell_quoting_hint(query):
        print(f"mathamr: {hint}", file=sys.stderr)
    if task is not None and task not in TASKS:
        raise UnknownNameError("task", task, list(TASKS))
    if editor is not None:
        check_editor(editor)
    chosen = next((each for each in TASKS if each == task), None) or _default_task(indexes)
    if group and chosen != "answers":
        raise typer.BadParameter("formulas are not grouped; leave --group out")
    grouping: Grouping | None = (
        "document" if (chosen == "answers" and not as_json if group is None else group) else None
    )
    text = sys.stdin.read() if query == "-" else query

    if module or namespace:
        from mathamr.search.library import narrowed

        tag = [*(tag or ()), *narrowed(module=module or "", namespace=namespace or "").tags]
    asked = _post_of(origin, text) if origin is not None else None

    def read(macros: Mapping[str, str]) -> Query:
        query = Query.of_text(text, chosen, macros=macros) if asked is None else Query.of_post(asked)
        return query if mark is None else query.marked(mark)

    from mathamr.index.engines.entry import Filter
    from mathamr.search.collections import Collections

    read({})  # what is wrong with the query is said before anything is loaded
    where = Filter(tuple(kind or ()), tuple(tag or ()), after, before, minimum_score, tuple(source or ()))
    trust_parser(parser, parser_model)
    with Collections.open(indexes, device=device, model=model) as opened:

        def options(index: Index) -> Mapping[str, Any]:
            return {
                "exact": exact,
                "where": index.within(folder or (), where),
                "pool": pool,
                "group": grouping,
            }

        hits = opened.search(
            lambda index: read(index.macros), chosen, strategy, k, offset=offset, options=options
        )
        changed = {
            name: changes for name, index in opened.indexes.items() if (changes := index.file_changes())
        }
        notes = [
            f"files since they were indexed: {changes}; bring the index up to date with: mathamr index"
            f" {opened.indexes[name].archive.folder}"
            for name, changes in changed.items()
        ]
    hits = replace(hits, notes=(*hits.notes, *notes))
    if as_json:
        print(json.dumps(_json(hits, editor, citations=citations), ensure_ascii=False))
        return
    if citations:
        from mathamr.core.terminal import visible
        from mathamr.search.citation import cite

        print("\n\n".join(visible(cite(each)) for hit in hits for each in (hit, *hit.others)))
        return
    from mathamr.cli.hitdisplay import show_hits

    show_hits(hits, editor=editor, verbose=verbose)


def _post_of(origin: Path, name: str) -> Post:
    """Return a post of another index, by its id or label."""
    from mathamr.search.library import post_named
    from mathamr.search.searcher import Index

    with Index.open(origin) as opened:
        return post_named(opened.archive, name.strip())


def _default_task(indexes: list[Path]) -> Task:
    """Return the task to search for if none is named: answers, or formulas if an index has vectors of formulas alone."""
    from mathamr.index.manifest import Manifest

    fields = [Manifest.read(index.expanduser()).model.fields for index in indexes]
    return "answers" if all(any(field.of == "posts" for field in each) for each in fields) else "formulas"


def _json(hits: Hits, editor: str | None, *, citations: bool) -> dict[str, Any]:
    """Return the hits as JSON values, each with the link that opens it if an editor is named, and its citation if asked for."""
    from mathamr.search.citation import cite
    from mathamr.search.editors import address_in

    row = hits.to_json()
    for hit, shown in zip(hits, row["hits"], strict=True):
        for each, its in zip((hit, *hit.others), (shown, *shown.get("others", ())), strict=True):
            if editor is not None:
                its["open"] = address_in(editor, each.source, each.place.line if each.place else 1)
            if citations:
                its["citation"] = cite(each)
    return row


def check_argument_order(folder: Path, query: str) -> None:
    """Raise if the index and the query were swapped."""
    if not folder.exists() and query and len(query) < 4096 and "\0" not in query and Path(query).is_dir():
        raise typer.BadParameter(f"the index comes first, then the query: mathamr search {query} '{folder}'")


def shell_quoting_hint(query: str) -> str:
    """Return a hint if the shell seems to have expanded `$x` in the query to nothing; else an empty string.

    >>> shell_quoting_hint("^2$"), shell_quoting_hint("solve $x^2$")
    ("a formula of this query has lost its beginning; a shell replaces $x in double quotes: use single ones, '$x^2$'", '')
    """
    if query.count("$") - query.count("\\$") & 1 or ("$" not in query and _MISSING_BASE.search(query)):
        return "a formula of this query has lost its beginning; a shell replaces $x in double quotes: use single ones, '$x^2$'"
    return ""
