"""`python -m mathamr_lab.experiments.trials contexts|marf PREPARED --out FOLDER`: trials with only torch and numpy installed.

`judged CORPUS --out FILE` writes the judged lines that `mathamr train mathamr` learns from.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mathamr.core.errors import MathAMRError

if TYPE_CHECKING:
    from mathamr_lab.systems.marf.configuration import MarfTraining


def main(arguments: list[str] | None = None) -> int:
    """Returns exit code 0 when done, 1 after a clear error."""
    parser = argparse.ArgumentParser(prog="python -m mathamr_lab.experiments.trials", description=__doc__)
    trials = parser.add_subparsers(dest="trial", required=True)
    contexts, marf = (trials.add_parser(name) for name in ("contexts", "marf"))
    for each in (contexts, marf):
        each.add_argument("prepared", type=Path)
        each.add_argument("--out", type=Path, required=True)
        each.add_argument("--device", default="auto")
        each.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
        each.add_argument(
            "--base",
            default="mathamr-2",
            help="text encoder to start from: a model's name, minilm or a folder",
        )
        each.add_argument("--set", action="append", default=[], metavar="STAGE.FIELD=VALUE")
    contexts.add_argument("--base-name", help="what the base is called in names of runs")
    contexts.add_argument("--contexts", nargs="+", help="only these contexts")
    contexts.add_argument("--folds", type=int, default=5)
    marf.add_argument("--config", default="small", help="sizes of MaRF")
    lines = trials.add_parser("judged", help="write judged pairs of contexts as JSON lines")
    lines.add_argument("corpus", type=Path, help="posts with topics/ and qrels/ of Task 2 beside them")
    lines.add_argument("--out", type=Path, required=True, help="file to write, or -")
    lines.add_argument("--topics", type=Path, action="append", default=[], help="instead of topics/")
    lines.add_argument("--qrels", type=Path, action="append", default=[], help="instead of qrels/")
    lines.add_argument("--context", default="amr-opt", help="amr-opt, amr-latex, text-opt, text-latex or opt")
    lines.add_argument("--parser", default="builtin", help="AMR parser")
    lines.add_argument("--parser-model", help="model of the AMR parser")
    given = parser.parse_args(arguments)
    try:
        if given.trial == "judged":
            _judged(given)
        elif given.trial == "contexts":
            _contexts(given)
        else:
            _marf(given)
    except MathAMRError as error:
        print(f"mathamr: {error}", file=sys.stderr)
        return 1
    return 0


def _judged(given: argparse.Namespace) -> None:
    from mathamr.amr.parser import load_parser
    from mathamr.core.errors import UnknownNameError
    from mathamr.evaluation.runs import write_lines
    from mathamr.systems.mathamr.context import CONTEXTS
    from mathamr_lab.experiments.collection import collection_of
    from mathamr_lab.experiments.formulaplaces import collection_places, topic_places
    from mathamr_lab.experiments.trials.contexts import ContextMaterials
    from mathamr_lab.experiments.trials.preparation import judged, sets_by_task

    if given.context not in CONTEXTS:
        raise UnknownNameError("context", given.context, list(CONTEXTS))
    collection = collection_of([given.corpus], given.topics, given.qrels)
    tests = sets_by_task(collection).get("task2", [])
    qrels, parser = judged(tests), load_parser(given.parser, given.parser_model)
    materials = ContextMaterials(
        list(topic_places([topic for test in tests for topic in test.topics], parser)),
        list(collection_places(collection.posts(), qrels, parser)),
        qrels,
    )
    rows = materials.rows(given.context, qrels.topics)
    if not rows:
        raise MathAMRError(
            f"{given.corpus} has no judged formula of a topic; name --topics and --qrels of Task 2"
        )
    write_lines((json.dumps(row, ensure_ascii=False) + "\n" for row in rows), given.out)


def _contexts(given: argparse.Namespace) -> None:
    from mathamr.core.device import chosen_device
    from mathamr.systems.baseencoder import BASE
    from mathamr.systems.mathamr.configuration import MathAMRConfiguration
    from mathamr.systems.mathamr.context import CONTEXTS
    from mathamr_lab.experiments.formulaplaces import read_places
    from mathamr_lab.experiments.trials.contexts import (
        ContextMaterials,
        cross_fitted,
        keep,
        keep_widely,
        trainings_of,
        untrained,
    )
    from mathamr_lab.experiments.trials.scorefiles import judgments
    from mathamr_lab.recipes.recipe import TrainingSettings

    device = chosen_device(given.device)
    name = given.base_name or given.base
    materials = ContextMaterials(
        read_places(given.prepared / "topic-places.jsonl.gz"),
        read_places(given.prepared / "places.jsonl.gz"),
        judgments(given.prepared / "qrels", "task2"),
    )
    wanted = given.contexts or CONTEXTS
    configurations = {
        context: MathAMRConfiguration(
            context=context, base=given.base, length=254 if context == "text-opt" else 128
        )
        for context in wanted
    }
    settings = TrainingSettings(config="", changes=tuple(given.set)).checked(("contrast", "ranking"))
    wide = given.prepared / "places-all.jsonl.gz"
    everything = read_places(wide) if wide.exists() and given.base == BASE else []
    for context, configuration in configurations.items():
        known = f"{name}/untrained/{context}"
        if not (given.out / f"{known}.json").exists():
            found, widely = untrained(materials, configuration, device, everything)
            keep(given.out, known, found, materials)
            if widely:
                keep_widely(given.out, f"{known}-all", widely, materials)
    for seed in given.seeds:
        for context, configuration in configurations.items():
            trained = f"{name}/seed-{seed}/{context}"
            if (given.out / f"{trained}{'-all' if everything else ''}.json").exists():
                continue
            trainings = [each.changed(settings.of(each.objective)) for each in trainings_of(seed)]
            found, widely = cross_fitted(
                materials, configuration, trainings, device, count=given.folds, wider=everything
            )
            keep(given.out, trained, found, materials)
            if widely:
                keep_widely(given.out, f"{trained}-all", widely, materials)


def _marf_training(given: argparse.Namespace) -> MarfTraining:
    from mathamr_lab.recipes.recipe import TrainingSettings
    from mathamr_lab.systems.marf.configuration import marf_training

    if any(change.startswith("model.base=") for change in given.set):
        raise MathAMRError("name the base with --base, not with --set model.base")
    changes = (*given.set, f"model.base={given.base}")
    return marf_training(TrainingSettings(config=given.config, changes=changes))


def _marf(given: argparse.Namespace) -> None:
    from mathamr.core.device import chosen_device
    from mathamr_lab.experiments.trials.marf import MarfTrial

    for seed in given.seeds:
        MarfTrial(given.prepared, given.out, _marf_training(given), chosen_device(given.device), seed).run()


if __name__ == "__main__":
    sys.exit(main())
