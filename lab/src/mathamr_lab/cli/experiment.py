"""`mathamr experiment`: an experiment of the thesis, in stages, as tables and pictures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def command(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME...",
            help="formula-representations, virtual-nodes, connectivity, initialisation, retrieval-strategies,"
            " document-loss or benchmark; several run together and share what they have in common. Of formulas alone:"
            " formula-graph-pairings, ssemb-ablation, ssemb-fusion. Of text and formulas: mathamr-contexts,"
            " mathamr-rerank, marf-benchmark, marf-scoring, marf-math-dominance.",
            show_default=False,
        ),
    ],
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
    scale: Annotated[
        str | None,
        typer.Option(
            help="tiny, small, few-pairs, thesis or thesis-full; the experiment's own if not given."
        ),
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
            help="A graph store that has the posts already (mathamr graph --out); further tensors are added to it."
        ),
    ] = None,
    parser: Annotated[
        str, typer.Option(help="AMR parser of posts and topics: builtin, amrlib, transition or module:Class.")
    ] = "builtin",
    parser_model: Annotated[str | None, typer.Option(help="Model of the AMR parser.")] = None,
    accepted: Annotated[
        bool, typer.Option("--accepted", help="Learn from questions with their accepted answers only.")
    ] = False,
    engine: Annotated[
        str | None,
        typer.Option(
            help="The engine that is searched: edge, flat, postgres or qdrant; by default flat, and edge where an experiment"
            " compares exact with approximate search."
        ),
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:NUMBER.")] = "auto",
    workers: Annotated[
        int,
        typer.Option(help="Processes that make graphs; models trained, and measured, at a time.", min=1),
    ] = 1,
    out: Annotated[
        Path,
        typer.Option(help="Folder for everything; experiments in the same folder share graphs and models."),
    ] = Path("experiments"),
    so_far: Annotated[
        bool, typer.Option("--so-far", help="Only write and print the tables of what is measured by now.")
    ] = False,
    runs: Annotated[
        list[Path] | None,
        typer.Option("--run", help="A run of another system, to be reranked (mathamr-rerank). Repeatable."),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only print the stages, what is done, and about how long it takes."),
    ] = False,
) -> None:
    """Run an experiment of the thesis; prints its tables. A killed one goes on where it stopped."""
    from mathamr import sample
    from mathamr_lab.experiments import EXPERIMENTS, FORMULA_EXPERIMENTS
    from mathamr_lab.experiments.collection import collection_of
    from mathamr_lab.experiments.plan import planned
    from mathamr_lab.experiments.runner import run, threads_of
    from mathamr_lab.experiments.scale import scale_named
    from mathamr_lab.experiments.setting import ExperimentSetting
    from mathamr_lab.experiments.trials.declared import TRIALS
    from mathamr_lab.experiments.trials.runner import TrialSetting, run_trial

    if any(name in TRIALS for name in names):
        trial = TrialSetting(
            collection=collection_of(
                corpus or [sample.folder()], topics or (), qrels or (), without or (), train or ()
            ),
            out=out,
            seeds=seeds,
            device=device,
            parser=parser,
            parser_model=parser_model,
            changes=tuple(changes or ()),
            runs=tuple(runs or ()),
            so_far=so_far,
        )
        for trial_name in dict.fromkeys(names):
            report = run_trial(TRIALS[trial_name], trial)
            print((report / "results.md").read_text(encoding="utf-8"), end="")
        return
    if any(name in FORMULA_EXPERIMENTS for name in names):
        if dry_run:
            _plan_of_formulas(names, seeds, changes, out)
            return
        _of_formulas(
            names,
            corpus or [sample.folder()],
            topics,
            qrels,
            train,
            seeds,
            changes,
            device,
            workers,
            out,
            so_far,
        )
        return
    collection = collection_of(
        corpus or [sample.folder()], topics or (), qrels or (), without or (), train or ()
    )
    settings = [
        ExperimentSetting(
            experiment,
            collection,
            out,
            scale_named(scale or (experiment.scale if corpus else "small")).changed(changes or ()),
            seeds,
            tuple(changes or ()),
            store,
            tuple(baseline or ("bm25",)),
            device,
            workers,
            threads_of(workers),
            parser,
            parser_model,
            accepted,
            engine,
        )
        for experiment in (EXPERIMENTS[name] for name in dict.fromkeys(names))
    ]
    if dry_run:
        for setting in settings:
            if len(settings) > 1:
                print(f"# {setting.experiment.name}")
            for line in planned(setting).lines():
                print(line)
        return
    from mathamr_lab.experiments.report import write_report

    for plan in [planned(setting) for setting in settings] if so_far else run(settings):
        folder, _ = write_report(plan)
        print((folder / "results.md").read_text(encoding="utf-8"), end="")
        print(f"results and pictures are in {folder}", file=sys.stderr)


def _plan_of_formulas(names: list[str], seeds: int, changes: list[str] | None, out: Path) -> None:
    """Prints what experiments of formulas would train."""
    from mathamr_lab.experiments import FORMULA_EXPERIMENTS
    from mathamr_lab.experiments.formularunner import FormulaSetting, planned_models

    setting = FormulaSetting(formulas=out, collections=(), out=out, seeds=seeds, changes=tuple(changes or ()))
    for line in planned_models([FORMULA_EXPERIMENTS[name] for name in dict.fromkeys(names)], setting):
        print(line)


def _of_formulas(
    names: list[str],
    corpus: list[Path],
    topics: list[Path] | None,
    qrels: list[Path] | None,
    train: list[Path] | None,
    seeds: int,
    changes: list[str] | None,
    device: str,
    workers: int,
    out: Path,
    so_far: bool,
) -> None:
    """Experiments of systems that read formulas alone; a folder with judged.tsv is a judged pool of trees."""
    from mathamr_lab.experiments import FORMULA_EXPERIMENTS
    from mathamr_lab.experiments.collection import collection_of
    from mathamr_lab.experiments.formulacollection import is_pool
    from mathamr_lab.experiments.formularunner import run_formula_experiments
    from mathamr_lab.experiments.formulasources import formula_setting
    from mathamr_lab.experiments.runner import threads_of

    posts = [path for path in corpus if not is_pool(path)]
    experiments = [FORMULA_EXPERIMENTS[name] for name in dict.fromkeys(names)]
    setting = formula_setting(
        collection_of(posts, topics or (), qrels or (), (), ()) if posts else None,
        [path for path in corpus if is_pool(path)],
        out,
        further=train or (),
        seeds=seeds,
        changes=tuple(changes or ()),
        device=device,
        workers=workers,
        threads=threads_of(workers),
        so_far=so_far,
    )
    for experiment, text in zip(experiments, run_formula_experiments(experiments, setting), strict=True):
        folder = out / experiment.name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "results.md").write_text(text + "\n", encoding="utf-8")
        print(text)
