"""`python -m mathamr_lab.experiments.trials contexts|marf PREPARED --out FOLDER`: trials on a machine that only trains.

`judged CORPUS --out FILE` writes the judged lines that `mathamr train mathamr` learns from.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path

from mathamr.core.errors import MathAMRError, UnknownNameError


def main(arguments: list[str] | None = None) -> int:
    """Return exit code 0 when done, 1 after a clear error."""
    parser = argparse.ArgumentParser(prog="python -m mathamr_lab.experiments.trials", description=__doc__)
    trials = parser.add_subparsers(dest="trial", required=True)
    for name in ("contexts", "marf"):
        each = trials.add_parser(name)
        each.add_argument("prepared", type=Path)
        each.add_argument("--out", type=Path, required=True)
        each.add_argument("--device", default="auto")
        each.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
        each.add_argument("--rows", nargs="+", default=[], help="only these contexts, or these rows of MaRF")
        each.add_argument("--set", action="append", default=[], metavar=f"{name}.FIELD=VALUE")
    model = trials.add_parser("marf-model", help="measure a model folder of MaRF and its parts")
    model.add_argument("prepared", type=Path)
    model.add_argument("--model", required=True, help="name or folder")
    model.add_argument("--out", type=Path, required=True)
    model.add_argument("--device", default="auto")
    model.add_argument(
        "--tests", nargs="+", default=[], help="only these of task1, task2, known-items, ntcir12"
    )
    lines = trials.add_parser("judged", help="write judged pairs of contexts as JSON lines")
    lines.add_argument("corpus", type=Path, help="posts with topics/ and qrels/ of Task 2 beside them")
    lines.add_argument("--out", type=Path, required=True, help="file to write, or -")
    lines.add_argument("--topics", type=Path, action="append", default=[], help="instead of topics/")
    lines.add_argument("--qrels", type=Path, action="append", default=[], help="instead of qrels/")
    lines.add_argument(
        "--beside", type=Path, action="append", default=[], help="tables of formulas in other folders"
    )
    lines.add_argument("--context", default="amr-opt", help="amr-opt, amr-latex, text-opt, text-latex or opt")
    lines.add_argument("--parser", default="builtin", help="AMR parser")
    lines.add_argument("--parser-model", help="model of the AMR parser")
    given = parser.parse_args(arguments)
    try:
        chosen = {"judged": _judged, "contexts": _contexts, "marf": _marf, "marf-model": _marf_model}
        chosen[given.trial](given)
    except MathAMRError as error:
        print(f"mathamr: {error}", file=sys.stderr)
        return 1
    return 0


def _judged(given: argparse.Namespace) -> None:
    from mathamr.amr.parser import load_parser
    from mathamr.evaluation.runs import write_lines
    from mathamr.systems.mathamr.context import CONTEXTS
    from mathamr_lab.experiments.collection import collection_of
    from mathamr_lab.experiments.formulaplaces import collection_places, topic_places
    from mathamr_lab.experiments.trials.contexts import ContextMaterials
    from mathamr_lab.experiments.trials.preparation import judged, sets_by_task

    if given.context not in CONTEXTS:
        raise UnknownNameError("context", given.context, list(CONTEXTS))
    collection = collection_of([given.corpus], given.topics, given.qrels, beside=given.beside)
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
    from mathamr.core.configured import changed
    from mathamr.core.device import chosen_device
    from mathamr.evaluation.qrels import Qrels
    from mathamr.systems.mathamr.context import CONTEXTS
    from mathamr_lab.experiments.formulaplaces import read_places
    from mathamr_lab.experiments.trials.contexts import ContextMaterials, ContextTraining, ranked_by_others
    from mathamr_lab.experiments.trials.scorefiles import judgments, keep_figures, keep_run
    from mathamr_lab.recipes.recipe import TrainingSettings

    settings = TrainingSettings(config="", changes=tuple(given.set)).checked(("contexts",))
    training: ContextTraining = changed({"contexts": ContextTraining()}, settings.of("contexts"))["contexts"]
    materials = ContextMaterials(
        read_places(given.prepared / "topic-places.jsonl.gz"),
        read_places(given.prepared / "places.jsonl.gz"),
        judgments(given.prepared / "qrels", "task2"),
    )
    _known_rows(given.rows, CONTEXTS)
    for seed in given.seeds:
        for context in given.rows or CONTEXTS:
            name = f"seed-{seed}/{context}"
            if (given.out / f"{name}.json").exists():
                continue
            found, learned = ranked_by_others(
                materials, context, training, seed, chosen_device(given.device), given.out / name
            )
            depth = 1_000_000 if context.startswith("amr-") else 0
            keep_figures(
                given.out / name,
                {
                    f"{number}, {stage}": each
                    for number, stages in enumerate(learned, 1)
                    for stage, each in stages.items()
                },
            )
            keep_run(
                given.out,
                name,
                found,
                Qrels({topic: materials.qrels.grades[topic] for topic in found}),
                depth=depth,
                judged_only=True,
            )


def _marf(given: argparse.Namespace) -> None:
    from mathamr.core.configured import changed
    from mathamr.core.device import chosen_device
    from mathamr_lab.experiments.trials.marf import ROWS, MarfPaper, MarfTrial
    from mathamr_lab.recipes.recipe import TrainingSettings

    settings = TrainingSettings(config="", changes=tuple(given.set)).checked(("marf",))
    recipe: MarfPaper = changed({"marf": MarfPaper()}, settings.of("marf"))["marf"]
    _known_rows(given.rows, ROWS)
    for seed in given.seeds:
        MarfTrial(given.prepared, given.out, recipe, chosen_device(given.device), seed).run(given.rows)


def _marf_model(given: argparse.Namespace) -> None:
    from mathamr.core.device import chosen_device
    from mathamr.systems.marf.model import load_marf
    from mathamr.systems.models import model_folder
    from mathamr_lab.experiments.trials.marf import measure_model

    model = load_marf(model_folder(given.model))
    measure_model(given.prepared, given.out, model, chosen_device(given.device), frozenset(given.tests))


def _known_rows(rows: Iterable[str], known: Iterable[str]) -> None:
    for name in rows:
        if name not in known:
            raise UnknownNameError("row", name, list(known))


if __name__ == "__main__":
    sys.exit(main())
