"""`mathamr run`: write a run file for the topics of a test collection."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from mathamr.cli.options import Device, IndexFolder, Model, Parser, ParserModel, Strategy, trust_parser


def command(
    folder: IndexFolder,
    task: Annotated[str, typer.Option(help="answers (ARQMath's Task 1) or formulas (Task 2).")],
    topics: Annotated[Path, typer.Option(help="Topics in ARQMath's XML.")],
    out: Annotated[Path, typer.Option(help="The run file to write; - is standard output.")],
    strategy: Strategy = None,
    depth: Annotated[int, typer.Option(help="Results per topic.", min=1)] = 1000,
    exact: Annotated[
        bool,
        typer.Option("--exact/--approximate", help="Exact vector search, or the engine's approximation."),
    ] = True,
    pool: Annotated[
        int, typer.Option(help="Results per topic that rerank, or --rerank, scores again.", min=1)
    ] = 1000,
    rerank: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN",
            help="Do not search: rerank the results of this run file by --strategy.",
        ),
    ] = None,
    arqmath: Annotated[
        bool,
        typer.Option("--arqmath", help="Write ARQMath's columns (formula and post ids) instead of TREC's."),
    ] = False,
    name: Annotated[str, typer.Option(help="The name of the run.", show_default="the strategy")] = "",
    model: Model = None,
    device: Device = "auto",
    parser: Parser = None,
    parser_model: ParserModel = None,
) -> None:
    """Search ARQMath topics and write a TREC run: answers by id, formulas by visual id, each once."""
    from mathamr.core.errors import UnknownNameError
    from mathamr.evaluation.runs import read_run, run_lines, write_lines
    from mathamr.evaluation.topics import read_topics
    from mathamr.evaluation.topicsearch import rerank_results, retrieve
    from mathamr.search.searcher import Index
    from mathamr.systems.ranking import TASKS

    if rerank is not None and not exact:
        raise typer.BadParameter("--rerank does not search, so --approximate has no effect on it")
    if task not in TASKS:
        raise UnknownNameError("task", task, list(TASKS))
    chosen = next(each for each in TASKS if each == task)
    questions = read_topics(topics)
    first = None if rerank is None else read_run(rerank)
    trust_parser(parser, parser_model)
    with Index.open(folder, device=device, model=model) as index:
        started = time.perf_counter()
        found = (
            retrieve(
                index, questions, chosen, strategy=strategy, depth=depth, exact=exact, pool=pool, name=name
            )
            if first is None
            else rerank_results(
                index, questions, first, chosen, strategy=strategy, depth=depth, pool=pool, name=name
            )
        )
        seconds = time.perf_counter() - started
    write_lines(found.arqmath_lines() if arqmath else run_lines(found.run(), depth), out)
    for remark in found.remarks:
        print(remark, file=sys.stderr)
    results = sum(map(len, found.results.values()))
    print(
        f"{len(questions):,} topics, {results:,} results in {seconds:.1f} s ({len(questions) / seconds:.1f} topics/s)",
        file=sys.stderr,
    )
