"""`mathamr demo`: the bundled sample on its way through the rooms."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

SHOWN_POST = "101"
READABLE = 20
"""About how long the LaTeX of a formula is whose trees fit a screen."""

_NEXT = (
    ("the trees of a formula", "mathamr formula '\\frac{1}{n^2}'"),
    ("your own notes, as they are read", "mathamr posts FOLDER"),
    ("one of them as a picture", "mathamr graph FOLDER --svg note.svg"),
    ("what is installed or missing", "mathamr doctor"),
)


def command(
    out: Annotated[
        Path | None, typer.Option(help="Folder for the graphs and the picture; by default one in the cache.")
    ] = None,
    workers: Annotated[int, typer.Option("--workers", "-j", help="Processes to build with.", min=1)] = 1,
    limit: Annotated[int | None, typer.Option(help="Only this many posts of the sample.", min=1)] = None,
) -> None:
    """Read the bundled forum, parse its sentences and formulas, and build the graph of every post."""
    from itertools import islice

    from rich.console import Console
    from rich.panel import Panel

    from mathamr.cli.reading import show_reading
    from mathamr.formulas.parse import parse
    from mathamr.graphs.corpus import build_graphs, build_tensors, build_vocabularies
    from mathamr.graphs.picture import picture
    from mathamr.graphs.store import GraphStore
    from mathamr.posts.passage import passage
    from mathamr.posts.reader import read_posts
    from mathamr.posts.report import Report
    from mathamr.posts.summary import Summary
    from mathamr.progress import Progress
    from mathamr.sample import folder
    from mathamr.settings import CACHE

    console = Console()

    def heading(text: str) -> None:
        console.print(f"\n[bold cyan]{text}[/]")

    started = time.perf_counter()
    heading("1. Reading the sample: a small forum of mathematics")
    report, summary = Report(), Summary(samples=1)
    posts = list(islice(summary.each(read_posts(folder() / "Posts.xml", report)), limit))
    show_reading(summary, report)

    shown = next((post for post in posts if post.id == SHOWN_POST), posts[0])
    heading(f"2. Post {shown.id} as a passage: sentences with placeholders for formulas")
    read = passage(shown)
    for sentence in read.sentences:
        console.print(f"  {sentence.text}", highlight=False, markup=False)

    formula = min(shown.formulas, key=lambda formula: abs(len(formula.latex) - READABLE))
    heading("3. A formula as two trees: how it looks, and what it computes")
    console.print(
        "\n".join(f"  {line}" for line in parse(formula.latex).lines()), highlight=False, markup=False
    )

    target = out or CACHE.path / "demo"
    heading("4. Every post as one graph: meaning (AMR), operators (OPT) and layout (SLT)")
    with GraphStore(target / "graphs", create=True) as store:
        with Progress("graphs", "posts", total=len(posts)) as progress:
            counts = build_graphs(posts, store, workers=workers, progress=progress)
        coverage = build_vocabularies(store)
        build_tensors(store)
        graph = store.graph(shown.id)
        nodes = sum(row[2] for row in store.sizes())
    picture_path = target / f"post-{shown.id}.svg"
    picture_path.write_text(picture(graph), encoding="utf-8")
    console.print(
        f"  {counts.made:,} graphs made, {counts.kept:,} kept from before: {nodes:,} nodes,"
        f" {coverage.labels:,} labels, {coverage.relations:,} relations"
    )
    console.print(Panel(_excerpt(graph.amr.to_penman()), title=f"what post {shown.id} means", expand=False))

    heading("Where to look next")
    console.print(f"  the graph of post {shown.id} as a picture: {picture_path}", highlight=False)
    console.print("  with these commands (after: source .venv/bin/activate)")
    for what, line in _NEXT:
        console.print(f"    {line:<42} {what}", highlight=False, markup=False)
    console.print(f"\n[dim]{time.perf_counter() - started:.1f} s[/]")


def _excerpt(penman: str, lines: int = 24) -> str:
    every = penman.splitlines()
    return "\n".join(every[:lines] + (["…"] if len(every) > lines else []))
