"""`mathamr experiment`: experiments of the papers, in stages, as tables and pictures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mathamr.core.interruption import keeping

if TYPE_CHECKING:
    from mathamr_lab.experiments.experiment import Experiment


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME...]",
            help="formula-representations, virtual-nodes, connectivity, initialisation, retrieval-strategies,"
            " document-loss (these two need a Qdrant server, MATHAMR_QDRANT_URL, if not --smallest) or benchmark; several run together and share what they have in common. Of formulas alone:"
            " formula-graph-pairings, formula-graph-training, ssemb-ablation, ssemb-fusion, ssemb-training. Of text and formulas: mathamr-contexts,"
            " mathamr-rerank, marf-benchmark, marf-scoring, marf-math-dominance. Without a name, list them.",
            show_default=False,
        ),
    ] = None,
    corpus: Annotated[
        list[Path] | None,
        typer.Option(
            help="Posts to search: a file or a folder. The bundled sample if not given. Repeatable."
        ),
    ] = None,
    topics: Annotated[
        list[Path] | None,
        typer.Option(
            help="ARQMath topics, one file for each --qrels; topics/ beside the posts if not given."
        ),
    ] = None,
    qrels: Annotated[
        list[Path] | None, typer.Option(help="Judgments, in the order of --topics; qrels/ if not given.")
    ] = None,
    without: Annotated[
        list[Path] | None,
        typer.Option(
            help="File of ids, one a line, whose pairs are not trained on; heldout*.txt if not given."
        ),
    ] = None,
    train: Annotated[
        list[Path] | None,
        typer.Option(help="Further posts to learn from, which are not searched. Repeatable."),
    ] = None,
    beside: Annotated[
        list[Path] | None,
        typer.Option(
            help="Table, or folder of tables, of the formulas, MathML or links of the posts, if it lies elsewhere. Repeatable."
        ),
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option(help="tiny, small, thesis or thesis-full; the experiment's own if not given."),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Change a field of the configuration. Repeatable."),
    ] = None,
    seeds: Annotated[int, typer.Option(help="How many seeds every variant is trained with.", min=1)] = 3,
    baseline: Annotated[
        list[str] | None,
        typer.Option(help="A baseline to print beside: random, bm25, minilm, … Repeatable; bm25 by default."),
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            help="A graph store that has the posts already (mathamr graph --out, with several --workers); further tensors are added to it."
        ),
    ] = None,
    parser: Annotated[
        str, typer.Option(help="AMR parser of posts and topics: builtin, amrlib or module:Class.")
    ] = "builtin",
    parser_model: Annotated[str | None, typer.Option(help="Model of the AMR parser.")] = None,
    accepted: Annotated[
        bool, typer.Option("--accepted", help="Learn from questions with their accepted answers only.")
    ] = False,
    judged_only: Annotated[
        bool, typer.Option("--judged-only", help="Search only the judged answers, as the thesis does.")
    ] = False,
    engine: Annotated[
        str | None,
        typer.Option(
            help="The engine that is searched: flat, postgres or qdrant; by default flat, and qdrant where an experiment"
            " ranks with an approximate index."
        ),
    ] = None,
    workers: Annotated[
        int,
        typer.Option(
            "--workers", "-j", help="Processes that make the graphs of posts, or their index.", min=1
        ),
    ] = 1,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:NUMBER.")] = "auto",
    out: Annotated[
        Path,
        typer.Option(help="Folder for everything; experiments in the same folder share graphs and models."),
    ] = Path("experiments"),
    so_far: Annotated[
        bool, typer.Option("--so-far", help="Only write and print the tables of what is measured by now.")
    ] = False,
    runs: Annotated[
        list[Path] | None,
        typer.Option(
            "--run",
            help="A run of another system, to be reranked (mathamr-rerank) or fused (ssemb-fusion). Repeatable.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROW", help="Run only this row; the tables show all rows that are measured. Repeatable."
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Only print rows, stages, what is done, measured costs, and what would fail."
        ),
    ] = False,
    smallest: Annotated[
        bool,
        typer.Option(
            "--smallest",
            help="Run the named experiments, or all, as small as they get on the bundled miniature of ARQMath and NTCIR-12;"
            " print the minutes, memory and disk of each.",
        ),
    ] = False,
    jobs: Annotated[
        int, typer.Option(help="With --smallest: how many experiments run at a time.", min=1)
    ] = 1,
) -> None:
    """Run experiments of the papers and print their tables. A killed one continues where it stopped."""
    from mathamr_lab.experiments import EXPERIMENTS
    from mathamr_lab.experiments.listing import catalogue_lines, plan_lines

    if not names and not smallest:
        for line in catalogue_lines(EXPERIMENTS):
            print(line)
        return
    from dataclasses import replace

    from mathamr import sample
    from mathamr_lab.experiments.collection import TestCollection, collection_of
    from mathamr_lab.experiments.experiment import GraphExperiment, PoolKind
    from mathamr_lab.experiments.judgedpool import is_pool
    from mathamr_lab.experiments.ntcir12 import is_ntcir12
    from mathamr_lab.experiments.planner import planned, write_report
    from mathamr_lab.experiments.runner import run
    from mathamr_lab.experiments.scale import scale_named
    from mathamr_lab.experiments.setting import ExperimentSetting

    experiments = [EXPERIMENTS[name] for name in dict.fromkeys(names or EXPERIMENTS)]
    given = {
        "accepted": accepted,
        "baseline": baseline,
        "engine": engine,
        "judged-only": judged_only,
        "parser": parser != "builtin",
        "parser-model": parser_model,
        "run": runs,
        "scale": scale,
        "store": store,
        "train": train,
        "without": without,
        "workers": workers > 1,
    }
    for experiment in experiments:
        for option in (name for name, value in given.items() if value and name not in experiment.options):
            others = "" if len(experiments) == 1 else ", or run that experiment by itself"
            raise typer.BadParameter(f"--{option} has no effect on {experiment.name}; leave it out{others}")
    if smallest:
        chosen_otherwise = [
            corpus,
            topics,
            qrels,
            beside,
            scale,
            changes,
            runs,
            only,
            train,
            without,
            store,
            workers > 1,
            dry_run,
            so_far,
        ]
        if any(chosen_otherwise):
            raise typer.BadParameter(
                "--smallest has a collection and settings of its own; give --out, --device and --jobs alone"
            )
        _run_smallest(experiments, out, device, jobs)
        return
    if jobs > 1:
        raise typer.BadParameter("--jobs acts on --smallest alone")
    if dry_run and so_far:
        raise typer.BadParameter("give either --dry-run or --so-far")
    chosen = corpus or [sample.folder()]
    pools = [path for path in chosen if is_pool(path) or is_ntcir12(path)]
    posts = [path for path in chosen if path not in pools]
    for path in pools:
        kind: PoolKind = "NTCIR-12" if is_ntcir12(path) else "judged pool"
        for experiment in experiments:
            if kind not in experiment.pools:
                raise typer.BadParameter(
                    f"--corpus {path} has no effect on {experiment.name}, which does not rank the formulas of a"
                    f" collection such as {kind}; leave it out"
                )
    collection = TestCollection((), (), further=tuple(train or ()))
    beside_posts = {"topics": topics, "qrels": qrels, "beside": beside, "without": without}
    for option in (name for name, value in beside_posts.items() if value and not posts):
        raise typer.BadParameter(
            f"--{option} belongs to a --corpus of posts; {', '.join(map(str, pools))} has no posts, and its own topics"
        )
    if posts:
        collection = collection_of(
            posts,
            topics or (),
            qrels or (),
            without or (),
            train or (),
            beside or (),
            judged_only=judged_only,
        )
    settings = []
    for experiment in experiments:
        own = experiment.scale if isinstance(experiment, GraphExperiment) and corpus else "small"
        scaled = scale_named(scale or own)
        settings.append(
            ExperimentSetting(
                experiment,
                collection,
                out,
                scaled.changed(changes or ()) if isinstance(experiment, GraphExperiment) else scaled,
                seeds,
                tuple(changes or ()),
                store,
                tuple(baseline or ("bm25",)),
                device,
                parser,
                parser_model,
                accepted,
                engine,
                tuple(pools),
                tuple(runs or ()),
                tuple(only or ()),
                workers,
            )
        )
    if dry_run:
        for setting in settings:
            if len(settings) > 1:
                print(f"# {setting.experiment.name}")
            for line in plan_lines(planned(setting)):
                print(line)
        return
    if not so_far:
        with keeping(lambda: f"finished stages are kept in {out}; the same command goes on from there"):
            run(settings)
    for setting in settings:
        folder = write_report(planned(replace(setting, only=())))
        print((folder / "results.md").read_text(encoding="utf-8"), end="")
        print(f"the results are in {folder}", file=sys.stderr)


def _run_smallest(experiments: list[Experiment], out: Path, device: str, jobs: int) -> None:
    """Run experiments on the miniature, and print a table of what each took; exit with 1 if one failed."""
    import torch

    from mathamr.core.device import chosen_device
    from mathamr_lab.experiments.smallest import SMALLEST, Cost, cost_lines, run_smallest

    chosen = chosen_device(device)
    machine = torch.cuda.get_device_name(chosen) if chosen.type == "cuda" else ""
    costs: list[Cost] = []
    refused: list[str] = []
    for found in run_smallest(experiments, out, ["--device", device], jobs=jobs, machine=machine):
        print(
            found if isinstance(found, str) else f"{found.experiment}: {found}", file=sys.stderr, flush=True
        )
        if isinstance(found, Cost):
            costs.append(found)
        else:
            refused.append(found)
    for line in cost_lines(costs):
        print(line)
    print(f"the results are in {out / SMALLEST}/NAME/NAME/results.md", file=sys.stderr)
    if any(": failed " in each for each in refused):
        raise typer.Exit(1)
