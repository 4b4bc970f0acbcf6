"""`mathamr run`: a run file for the topics of a test collection."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer


def command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The index.", show_default=False)],
    task: Annotated[str, typer.Option(help="answers (ARQMath's Task 1) or formulas (Task 2).")],
    topics: Annotated[Path, typer.Option(help="Topics in ARQMath's XML.")],
    out: Annotated[Path, typer.Option(help="The run file to write; - is standard output.")],
    strategy: Annotated[
        str | None,
        typer.Option(
            help="A ranking of the index's system, by default its first:"
            " hybrid, maxsim, rerank, single or lexical for MathAMR+."
        ),
    ] = None,
    depth: Annotated[int, typer.Option(help="Results a topic.", min=1)] = 1000,
    exact: Annotated[
        bool,
        typer.Option("--exact/--approximate", help="Exact vector search, or as the engine approximates it."),
    ] = True,
    pool: Annotated[
        int, typer.Option(help="Posts a topic that rerank, or --rerank, looks at again.", min=1)
    ] = 1000,
    rerank: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN",
            help="Do not search: rank what this run file found for the topics again, by --strategy."
            " Or cross: search, and read the first posts again.",
        ),
    ] = None,
    arqmath: Annotated[
        bool, typer.Option("--arqmath", help="ARQMath's columns (formula and post ids) instead of TREC's.")
    ] = False,
    name: Annotated[str, typer.Option(help="The name of the run; by default the strategy's.")] = "",
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
    """Search the topics of ARQMath and write a TREC run: answers by id, formulas by visual id, each look once."""
    from mathamr.amr.parser import vouch_for_parser
    from mathamr.core.errors import UnknownNameError
    from mathamr.evaluation.runs import read_run, run_lines, write_lines
    from mathamr.evaluation.topics import read_topics
    from mathamr.evaluation.topicsearch import rerank_results, retrieve
    from mathamr.search.searcher import Index
    from mathamr.systems.ranking import TASKS

    if task not in TASKS:
        raise UnknownNameError("task", task, list(TASKS))
    chosen = next(each for each in TASKS if each == task)
    asked = read_topics(topics)
    first = None if rerank is None else read_run(rerank)
    if parser or parser_model:
        vouch_for_parser(parser or "builtin", parser_model)
    with Index.open(folder, device=device, model=model) as index:
        started = time.perf_counter()
        found = (
            retrieve(index, asked, chosen, strategy=strategy, depth=depth, exact=exact, pool=pool, name=name)
            if first is None
            else rerank_results(
                index, asked, first, chosen, strategy=strategy, depth=depth, pool=pool, name=name
            )
        )
        seconds = time.perf_counter() - started
    write_lines(found.arqmath_lines() if arqmath else run_lines(found.run(), depth), out)
    for remark in found.remarks:
        print(remark, file=sys.stderr)
    results = sum(map(len, found.results.values()))
    print(
        f"{len(asked):,} topics, {results:,} results in {seconds:.1f} s ({len(asked) / seconds:.1f} topics/s)",
        file=sys.stderr,
    )
