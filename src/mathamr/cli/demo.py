"""`mathamr demo`: the bundled sample through every stage, from a file of posts to answers."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mathamr.cli.safeconsole import SafeConsole
    from mathamr.posts.post import Post
    from mathamr.search.searcher import Index

SHOWN_POST = "101"
READABLE = 20
"""Approximate length of a formula in LaTeX whose trees fit a screen."""
HITS = 2

QUERIES = {
    "A name": "harmonic series",
    "A question": r"Why does $\sum_{n=1}^\infty \frac{1}{n^2}$ converge, and what is its value?",
    "A formula with a word, typed without LaTeX": "sum_(k=1)^oo 1/k^2 value",
    "A formula alone, in other letters than the forum has": "∫_-∞^∞ e^(-t²) dt",
    "Something that is not there": "Navier-Stokes equations",
}
"""What people type into the one box, by what it is; the second is explained."""
FORMULA_QUERY = r"\sum_{n=1}^{\infty} \frac{1}{n}"

_NEXT = (
    ("the web page of this index", "mathamr demo --serve"),
    ("your own notes or dump, ready to search", "mathamr index FOLDER --out INDEX"),
    ("answers, or formulas like one", "mathamr search INDEX 'QUERY with $latex$'"),
    ("what is installed or missing", "mathamr doctor"),
)


def command(
    out: Annotated[
        Path | None, typer.Option(help="Folder for the index and the pictures.", show_default="in the cache")
    ] = None,
    workers: Annotated[int, typer.Option("--workers", "-j", help="Worker processes.", min=1)] = 2,
    limit: Annotated[
        int | None, typer.Option(help="Index only this many posts of the sample.", min=1)
    ] = None,
    model: Annotated[str | None, typer.Option(help="Use this model: a name or a folder.")] = None,
    serve: Annotated[bool, typer.Option("--serve", help="Serve the web page afterwards.")] = False,
    port: Annotated[int, typer.Option(help="Port of the page, with --serve.", min=0, max=65535)] = 8080,
) -> None:
    """Read the bundled forum, index it, answer what people type, and show why a hit was found."""
    from mathamr.cli.safeconsole import SafeConsole
    from mathamr.core.storage.cachefolder import own_cache
    from mathamr.search.searcher import Index

    console = SafeConsole()
    target = out or own_cache() / "demo"

    def heading(text: str) -> None:
        console.print(f"\n[bold cyan]{text}[/]")

    started = time.perf_counter()
    heading("1. Reading the sample: a small forum of mathematics")
    posts, source = _read(console, target, limit)
    heading("2. A post as it is read: sentences, formulas, and their layout and operator trees")
    shown = next((post for post in posts if post.id == SHOWN_POST), posts[0])
    _show_parts(console, shown)
    heading("3. The index: vectors, words and symbols")
    _build(console, source, target / "index", model, workers)
    with Index.open(target / "index", model=model) as index:
        _draw(console, index, shown, target)
        _answer(console, heading, index, target)
    heading("Where to look next")
    console.print("  with these commands (after: source .venv/bin/activate)")
    for what, line in _NEXT:
        console.print(f"    {line:<42} {what}", highlight=False, markup=False)
    console.print(f"\n[dim]{time.perf_counter() - started:.1f} s[/]")
    if serve:
        from mathamr.serve.launch import serve as start

        start(target / "index", port=port, model=model)


def _read(console: SafeConsole, target: Path, limit: int | None) -> tuple[list[Post], Path]:
    """Return the posts of the sample and the file to index, which holds only the first `limit` posts if one is set."""
    from itertools import islice

    from mathamr.cli.postdisplay import show_posts_read
    from mathamr.core.errors import MathAMRError
    from mathamr.posts.postcounts import PostCounts
    from mathamr.posts.reader import read_posts
    from mathamr.posts.report import Report
    from mathamr.sample import folder

    source = folder() / "Posts.xml"
    report, summary = Report(), PostCounts(samples=1)
    posts = list(islice(summary.each(read_posts(source, report)), limit))
    show_posts_read(summary, report, console)
    try:
        target.mkdir(parents=True, exist_ok=True)
        if limit is not None:
            source = target / "posts.jsonl"
            source.write_text("".join(f"{post.to_json()}\n" for post in posts), encoding="utf-8")
    except OSError as error:
        raise MathAMRError(
            f"{target}: cannot be written ({error.strerror}); name another folder with --out"
        ) from error
    return posts, source


def _show_parts(console: SafeConsole, post: Post) -> None:
    from mathamr.formulas.parse import parse
    from mathamr.posts.passage import passage

    console.print(f"  post {post.id} as sentences, its formulas set apart:")
    for sentence in passage(post).sentences[:4]:
        console.print(f"    {sentence.text}", highlight=False, markup=False)
    formula = min(post.formulas, key=lambda formula: abs(len(formula.latex) - READABLE))
    console.print("  one of its formulas as two trees, how it looks and what it computes:")
    lines = parse(formula.latex).lines()
    console.print("\n".join(f"    {line}" for line in lines), highlight=False, markup=False)


def _build(console: SafeConsole, source: Path, folder: Path, model: Path | str | None, workers: int) -> None:
    from mathamr.cli.index import changes
    from mathamr.index.indexing.builder import BuildOptions, build_index

    options = BuildOptions(model=model, workers=workers, show_progress=True)
    built = build_index([source], folder, options)
    counts = built.manifest.counts
    console.print(
        f"  {counts['posts']:,} posts ({changes(built)}) and {counts['formulas']:,} formulas in {folder},"
        f" {built.seconds:.1f} s",
        highlight=False,
    )


def _draw(console: SafeConsole, index: Index, post: Post, target: Path) -> None:
    from mathamr.graphs.picture import picture

    path = target / f"post-{post.id}.svg"
    path.write_text(picture(index.archive.graph(post.id)), encoding="utf-8")
    console.print(f"  the graph of post {post.id} as a picture: {path}", highlight=False)


def _answer(console: SafeConsole, heading: Callable[[str], None], index: Index, target: Path) -> None:
    from rich.markup import escape

    from mathamr.cli.hitdisplay import show_alignment, show_hits
    from mathamr.search.heatmap import save_heatmap

    heading("4. One box for everything that people type")
    found = {}
    for what, query in QUERIES.items():
        console.print(f"\n  [bold]{what}[/]: {escape(query)}", highlight=False)
        found[query] = index.search(query, k=HITS)
        show_hits(found[query], console)
    heading(f"5. A list of formulas: {escape(FORMULA_QUERY)}")
    show_hits(index.search(FORMULA_QUERY, "formulas", k=HITS), console)
    question = QUERIES["A question"]
    if found[question].hits:
        first = found[question][0]
        heading(f"6. Why post {first.id} was found for the question")
        alignment = index.explain(question, first.id)
        show_alignment(alignment, console)
        save_heatmap(alignment, target / "why.svg")
        console.print(f"\n  as a heatmap: {target / 'why.svg'}", highlight=False)
