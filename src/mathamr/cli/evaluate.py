"""`mathamr evaluate`: measure runs and compare them with a baseline."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mathamr.evaluation.comparison import Comparison


def command(
    qrels: Annotated[
        Path, typer.Option("--qrels", help="Judgments: topic, iteration, id, grade.", show_default=False)
    ],
    run: Annotated[
        list[str],
        typer.Option(
            "--run",
            help="A run file in TREC or ARQMath format, or a baseline: random, bm25, bm25-words, latex-ngrams. "
            "Repeatable.",
            show_default=False,
        ),
    ],
    more: Annotated[list[str] | None, typer.Argument(metavar="RUN", help="Further runs.")] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            "-m",
            help="nDCG', MAP', P'@10, Bpref, recall@100, MRR@10, judged@10, with (rel=N) for another threshold, or a "
            "suite: arqmath (the default), known-items, ntcir12. Repeatable.",
        ),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(help="The run to test the others against: a file or name as in --run.")
    ] = None,
    relevant: Annotated[
        int | None, typer.Option(help="The lowest grade that counts as relevant.", min=1, show_default="2")
    ] = None,
    only_with_relevant: Annotated[
        bool, typer.Option("--only-with-relevant", help="Ignore topics without a relevant item.")
    ] = False,
    formulas: Annotated[
        Path | None,
        typer.Option(
            help="Table of formulas (id, visual_id), for runs of formula ids with judgments of visual ids."
        ),
    ] = None,
    random: Annotated[
        bool, typer.Option("--random", help="Also print the scores of a random order.")
    ] = False,
    per_topic: Annotated[
        bool, typer.Option("--per-topic", help="Also print the values of every topic.")
    ] = False,
    strata: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|formulas",
            help="Also print means by groups of topics: a file with a topic and its group on each line, or formulas, for thirds by the size of the topics' operator trees (with --topics).",
        ),
    ] = None,
    show: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOPIC",
            help="Also print the first ten results of every run for this topic, with their grades; what they say with --topics and --posts. Repeatable.",
        ),
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write what --show shows to this page, with formulas drawn.")
    ] = None,
    judged_in: Annotated[
        Path | None,
        typer.Option(
            metavar="POSTS",
            help="Leave out judgments of items that are not in these posts, such as those of a cut of the collection.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of tables.")] = False,
    topics: Annotated[Path | None, typer.Option(help="ARQMath topics, for baselines and --show.")] = None,
    posts: Annotated[
        Path | None, typer.Option(help="The posts that baselines search and --show shows.")
    ] = None,
) -> None:
    """Measure runs: nDCG', MAP', P'@10, Bpref, judged@10, with paired t-tests against a baseline."""
    from mathamr.core.storage.durable import write_whole
    from mathamr.core.terminal import visible
    from mathamr.evaluation.baselines import BASELINES
    from mathamr.evaluation.measures import measures
    from mathamr.evaluation.runevaluation import EvaluationInputs, evaluate_runs
    from mathamr.evaluation.sidebyside import SideBySide
    from mathamr.evaluation.strata import FORMULAS, by_formulas, by_stratum, read_strata
    from mathamr.evaluation.table import means_table, topics_table
    from mathamr.posts.reader import read_posts
    from mathamr.posts.report import Report

    named = {*run, *(more or ()), baseline}
    if strata == FORMULAS and topics is None:
        raise typer.BadParameter("--strata formulas looks at the formulas of topics: give --topics as well")
    used = show or named & set(BASELINES)
    if (posts and not used) or (topics and not used and strata != FORMULAS):
        raise typer.BadParameter(
            "--topics and --posts have an effect only on baselines and with --show; name one as a run, or leave them out"
        )
    if html and not show:
        raise typer.BadParameter("--html writes what --show shows: name a topic with --show")
    sources = EvaluationInputs(qrels, (*run, *(more or ())), baseline, topics, posts, formulas, judged_in)
    chosen = measures(measure or ["arqmath"], relevant)
    evaluation = evaluate_runs(
        sources, chosen, relevant, only_with_relevant=only_with_relevant, has_floors=random
    )
    comparison = evaluation.comparison
    for remark in evaluation.remarks:
        print(remark, file=sys.stderr)
    shown = None
    if show:
        shown = SideBySide(evaluation, show, read_posts(posts, Report()) if posts else ())
    if shown and html:
        write_whole(html, shown.to_html().encode())
    groups: dict[str, Comparison] = {}
    if strata:
        of = by_formulas(evaluation.topics.values()) if strata == FORMULAS else read_strata(Path(strata))
        groups = dict(by_stratum(comparison, of))
    if as_json:
        floors = {
            floor.run: {measure: floor.mean(measure) for measure in floor.measures}
            for floor in evaluation.floors
        }
        print(
            json.dumps(
                comparison.to_json(per_topic=per_topic)
                | {"random": floors}
                | ({"strata": {name: each.to_json() for name, each in groups.items()}} if groups else {})
                | ({"shown": shown.to_json()} if shown else {}),
                ensure_ascii=False,
                indent=2,
            )
        )
        return
    print(evaluation)
    if per_topic:
        print()
        print(topics_table(comparison))
    for name, each in groups.items():
        print(f"\n{visible(name)}: {len(each.topics)} topics\n{means_table(each)}")
    if shown:
        print(visible(shown.to_text()))
