"""`mathamr graph`: MathAMR+ graphs of posts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mathamr.cli.inputoptions import Format
from mathamr.core.errors import MathAMRError
from mathamr.core.interruption import keeping
from mathamr.core.progress import Progress
from mathamr.core.terminal import visible
from mathamr.graphs.configuration import GraphConfiguration
from mathamr.graphs.pairlabels import PairLabels, labelled, pair_labels
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report

if TYPE_CHECKING:
    from mathamr.graphs.statistics import Statistics
    from mathamr.posts.post import Post


def command(
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="Files or folders of posts, - for standard input, or a text with $latex$.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Store graphs, vocabularies and tensors in this folder; an interrupted run resumes."
        ),
    ] = None,
    svg: Annotated[Path | None, typer.Option(help="Draw one post to this file.")] = None,
    fold: Annotated[
        bool,
        typer.Option(
            "--fold",
            help="With --svg: draw the meaning of each sentence below its text, in two columns, a formula as one node: for posts"
            " with many formulas.",
        ),
    ] = False,
    post: Annotated[list[str] | None, typer.Option(help="Only the post with this id. Repeatable.")] = None,
    mode: Annotated[
        str,
        typer.Option(help="Formula trees: both, opt, slt, none (placeholders stay) or absent (they do not)."),
    ] = "both",
    structure: Annotated[
        str, typer.Option(help="Virtual nodes of tensors and picture: hierarchy, none or global.")
    ] = "hierarchy",
    auxiliary: Annotated[
        str, typer.Option(help="Edges between virtual nodes: none, sequential, circular or full.")
    ] = "none",
    linear: Annotated[
        bool,
        typer.Option(
            "--linear",
            help="MathAMR strings instead of graphs: id, tab, words depth first; one for a whole post, where the paper has one for a sentence.",
        ),
    ] = False,
    pairs: Annotated[
        bool,
        typer.Option(
            "--pairs",
            help="Only questions with answers and these answers, each labelled with the others of its pairs.",
        ),
    ] = False,
    coreference: Annotated[
        bool,
        typer.Option(
            "--coreference",
            help='One node for what "it", "this function" or a name refers to, and edges :coref from symbols to their first mention (not with --out).',
        ),
    ] = False,
    format: Format = None,
    parser: Annotated[str, typer.Option(help="AMR parser: builtin or amrlib.")] = "builtin",
    model: Annotated[str | None, typer.Option(help="Model of the AMR parser.")] = None,
    workers: Annotated[int, typer.Option("--workers", "-j", help="Worker processes.", min=1)] = 1,
    limit: Annotated[int | None, typer.Option(help="Stop after this many posts.", min=0)] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Statistics as one JSON object (with --out).")
    ] = False,
) -> None:
    """Turn posts into graphs of meaning, operators and layout; print them, store them, or draw one."""
    configuration = GraphConfiguration(mode, structure, auxiliary)  # type: ignore[arg-type]
    if (out is not None) + (svg is not None) + linear > 1:
        raise typer.BadParameter("--out, --svg and --linear exclude each other")
    if as_json and out is None:
        raise typer.BadParameter("--json prints the statistics of a store: give --out as well")
    if pairs and (out is not None or svg is not None or linear or Path("-") in paths):
        raise typer.BadParameter(
            "--pairs labels the graphs that are printed, of posts that are read twice: leave --out, --svg, --linear and - out"
        )
    if out is not None and coreference:
        raise typer.BadParameter("--out stores graphs as models read them: leave --coreference out")
    if out is None and workers != 1:
        raise typer.BadParameter("--workers acts on a store: give --out as well")
    if fold and (svg is None or (mode, structure, auxiliary) != ("both", "hierarchy", "none")):
        raise typer.BadParameter(
            "--fold acts on a picture without trees and virtual nodes: give --svg, and leave --mode, --structure and --auxiliary out"
        )
    if out is None and svg is None and (structure, auxiliary) != ("hierarchy", "none"):
        raise typer.BadParameter(
            "--structure and --auxiliary act on a store or a picture: give --out or --svg as well"
        )
    if linear and mode != "both":
        raise typer.BadParameter(
            "--linear writes MathAMR strings, which have operator trees: leave --mode out"
        )
    if post and limit is not None:
        raise typer.BadParameter("--post and --limit exclude each other")
    if pairs and any(map(_is_text, paths)):
        raise typer.BadParameter("--pairs labels questions and answers of posts, not of a text")
    report = Report()
    posts = _chosen(paths, report, format, set(post or ()), limit)
    labels: PairLabels = {}
    if pairs:
        labels = pair_labels(each for path in paths for each in read_posts(path, Report(), format))
        posts = (each for each in posts if each.id in labels)
    if out is not None:
        share = _share(report) if limit is None and len(paths) == 1 else None
        with keeping(lambda: f"graphs that were made are kept in {out}; the same command goes on from there"):
            statistics = _build(posts, out, configuration, parser, model, workers, report, limit, share)
        _show(statistics, out, as_json=as_json)
    else:
        _write(
            posts,
            svg,
            fold=fold,
            linear=linear,
            coreference=coreference,
            labels=labels,
            configuration=configuration,
            parser=parser,
            model=model,
        )


def _chosen(
    paths: list[Path], report: Report, format: str | None, wanted: set[str], limit: int | None
) -> Iterator[Post]:
    every = (post for path in paths for post in _posts(path, report, format))
    if not wanted:
        yield from islice(every, limit)
        return
    for post in every:
        if post.id in wanted:
            wanted.remove(post.id)
            yield post
        if not wanted:
            return
    raise MathAMRError(f"no post with the id {', '.join(sorted(wanted))} in {', '.join(map(str, paths))}")


def _posts(path: Path, report: Report, format: str | None) -> Iterable[Post]:
    """Return the posts of a file or folder, or the post that a typed text is."""
    if not _is_text(path):
        return read_posts(path, report, format)
    from mathamr.posts.markup import formulas_of
    from mathamr.posts.post import Post

    text = str(path)
    return [Post("text", "note", text, formulas=formulas_of("text", "", text, "text"))]


def _is_text(path: Path) -> bool:
    """Return True for what was typed as a text: no file has this name, and none would."""
    return bool(re.search(r"[\s$]", str(path))) and not path.exists()


def _build(
    posts: Iterator[Post],
    out: Path,
    configuration: GraphConfiguration,
    parser: str,
    model: str | None,
    workers: int,
    report: Report,
    limit: int | None,
    share: Callable[[], float | None] | None,
) -> Statistics:
    from mathamr.graphs.corpus import build_graphs, build_tensors, build_vocabularies
    from mathamr.graphs.statistics import statistics
    from mathamr.graphs.store import GraphStore

    with GraphStore(out, create=True) as store:
        with Progress("graphs", "posts", total=limit, share=share) as progress:
            counts = build_graphs(
                posts, store, parser=parser, model=model, workers=workers, progress=progress
            )
        with Progress("vocabularies", "posts", total=len(store)) as progress:
            vocabularies = build_vocabularies(store, workers=workers, progress=progress)
        with Progress("tensors", "posts", total=len(store)) as progress:
            build_tensors(store, configuration, workers=workers, progress=progress)
        return statistics(store, counts, vocabularies, report.to_dict())


def _share(report: Report) -> Callable[[], float | None]:
    """Return a function that gives the share of the posts read so far, without the tables that are read before them."""
    before: int | None = None

    def share() -> float | None:
        nonlocal before
        before = report.bytes_read if before is None else before
        posts = (report.bytes_total or 0) - before
        return (report.bytes_read - before) / posts if posts > 0 else None

    return share


def _write(
    posts: Iterator[Post],
    svg: Path | None,
    *,
    fold: bool,
    linear: bool,
    coreference: bool,
    labels: PairLabels,
    configuration: GraphConfiguration,
    parser: str,
    model: str | None,
) -> None:
    from mathamr.amr.parser import load_parser
    from mathamr.graphs import notation
    from mathamr.graphs.coreference import coreferent
    from mathamr.graphs.maker import GraphMaker
    from mathamr.graphs.mathamr import linearise, mathamr
    from mathamr.graphs.picture import folded, picture

    found = GraphMaker(load_parser(parser, model)).make(posts)
    if svg is not None:
        made = next(found, None)
        if made is None:
            raise MathAMRError("there is no post to draw")
        graph = coreferent(made.graph) if coreference else made.graph
        if fold:
            drawn = folded(graph, {formula.id: formula.latex for formula in made.post.formulas})
        else:
            drawn = picture(graph, configuration.formulas, configuration.structure, configuration.auxiliary)
        try:
            svg.write_text(drawn, encoding="utf-8")
        except OSError as error:
            raise MathAMRError(f"cannot write the picture {svg}: {error.strerror}") from error
        return
    for graph in (coreferent(made.graph) if coreference else made.graph for made in found):
        if linear:
            print(visible(f"{graph.post_id}\t{linearise(mathamr(graph).to_penman(one_line=True))}"))
        else:
            text = labelled(notation.write(graph, configuration.formulas), labels.get(graph.post_id, {}))
            print(visible(text) + "\n", flush=True)


def _show(statistics: Statistics, out: Path, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(statistics.to_json(), ensure_ascii=False, indent=2))
        return
    from rich.table import Table

    from mathamr.cli.safeconsole import SafeConsole

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(justify="left")
    table.add_column(justify="right")
    table.add_row("posts", f"{statistics.posts:,}")
    for kind, size in statistics.kinds.items():
        table.add_row(
            f"  {kind}s", f"{size.posts:,}: {size.nodes:.1f} nodes, {size.formulas:.1f} formulas each"
        )
    table.add_row("posts without a graph", f"{statistics.failed:,}")
    for cause, count in statistics.fallbacks.items():
        table.add_row(f"  fallback: {cause}", f"{count:,}")
    table.add_row("question-answer pairs", f"{statistics.pairs:,} ({statistics.accepted_pairs:,} accepted)")
    table.add_row("formulas", f"{statistics.formulas:,}")
    table.add_row("nodes per graph", f"{statistics.nodes_mean:.1f} (median {statistics.nodes_median:,})")
    table.add_row("edges per graph", f"{statistics.edges_mean:.1f}")
    if shape := statistics.shape:
        table.add_row("virtual nodes per graph", f"{shape.virtual:.1f}")
        table.add_row(
            "nodes per tree", f"{shape.opt_nodes:.1f} of operators, {shape.slt_nodes:.1f} of layout"
        )
        table.add_row(
            "words per line of MathAMR",
            f"{shape.line:.1f} (deviation {shape.line_deviation:.1f}, {shape.lines:,} sentences)",
        )
    known = statistics.vocabularies
    if known is not None:
        table.add_row(
            "node labels",
            f"{known.labels_raw:,} raw, {known.labels:,} in the vocabulary, {known.share:.2%} of nodes covered",
        )
        table.add_row(
            "relations", f"{known.relations_raw:,} raw, {known.relations:,} with virtual and inverse"
        )
    SafeConsole().print(table)
    SafeConsole(stderr=True).print(f"stored in {out}")
