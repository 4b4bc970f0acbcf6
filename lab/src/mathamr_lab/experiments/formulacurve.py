"""`python -m mathamr_lab.experiments.formulacurve FORMULAS --collection NAME.npz --out FOLDER`: how retrieval changes with the steps of a training.

FORMULAS is what `mathamr train SYSTEM … --prepare` writes (`formulas.npz`), a collection what an experiment of formulas writes
into `OUT/formulas`. It needs only torch and numpy. FOLDER receives `curve.jsonl`, a row for every step that is measured (the
first is the untrained network), and the model of the last step.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import torch

from mathamr.core.device import chosen_device
from mathamr.core.errors import MathAMRError
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.runs import Run
from mathamr.evaluation.scores import Scores, evaluate, mean
from mathamr.graphs.formulashard import FormulaShard
from mathamr.systems.models import load_system
from mathamr_lab.experiments.formulacollection import FormulaCollection
from mathamr_lab.experiments.formulascores import collection_scores, fused, ranked
from mathamr_lab.recipes.formularecipe import FormulaRecipe
from mathamr_lab.recipes.recipe import RECIPES
from mathamr_lab.training.loop import prefetched

CURVE = "curve.jsonl"
MEASURES = ("nDCG'", "MAP'", "P'@10", "Bpref", "nDCG'@10")
RANKINGS = {
    "formula-graph": ("layout", "operators", "max", "mean", "f1", "rrf"),
    "ssemb": ("structure",),
}


def measured(
    folder: Path, collections: Iterable[FormulaCollection], rankings: Sequence[str], device: str
) -> Iterator[dict[str, Any]]:
    """Yield the means of all measures of a model in a folder, by collection, ranking and set of topics."""
    system = load_system(folder, device)
    for collection in collections:
        fields = collection_scores(system, collection)
        qrels = Qrels(collection.grades).with_relevant()
        for ranking in rankings:
            rows = (
                fused(
                    {name: each[row] for name, each in fields.items()}, ranking, collection.ranked_for(topic)
                )
                for row, topic in enumerate(collection.topics)
            )
            run = Run.of(ranking, ranked(collection, rows))
            scores = evaluate(run, qrels, measures(MEASURES))
            for name, topics in {"all": scores.topics, **collection.sets}.items():
                yield {
                    "collection": collection.name,
                    "ranking": ranking,
                    "topics": name,
                    **_means(scores, topics),
                }


def _means(scores: Scores, topics: Iterable[str]) -> dict[str, float]:
    chosen = [topic for topic in topics if topic in scores.topics]
    return {
        name: round(mean([values[topic] for topic in chosen]), 4) for name, values in scores.values.items()
    }


def train_measured(given: argparse.Namespace) -> None:
    """Trains, measures at the steps that are asked for, and writes the rows as they come."""
    recipe = RECIPES[given.system]
    if not isinstance(recipe, FormulaRecipe):
        raise MathAMRError(f"the system {given.system!r} is not trained on formulas alone")
    device = chosen_device(given.device)
    shard = FormulaShard.load(given.formulas)
    collections = [FormulaCollection.load(path) for path in given.collection]
    configured = recipe.configured(given.config, given.set)
    trainer = recipe.trainer(shard, configured, None, device)
    given.out.mkdir(parents=True, exist_ok=True)
    began, spent, losses = time.monotonic(), 0.0, torch.zeros((), device=device)
    last = trainer.epochs * len(trainer.plan(0))
    at = sorted({step for step in given.at if step <= last} | {last})
    since = 0

    def steps() -> Iterator[Any]:
        for epoch in range(trainer.epochs):
            yield from ((batch, epoch) for batch in trainer.plan(epoch))

    made = prefetched(lambda each: trainer.step(*each), steps(), given.threads)
    with (given.out / CURVE).open("w", encoding="utf-8") as file:
        for number, step in enumerate(chain(made, (None,))):
            late = given.minutes is not None and time.monotonic() - began > 60 * given.minutes
            if number in at or late:
                paused = time.monotonic()
                trainer.save(given.out, {"steps": number})
                validation = trainer.validate()
                row = {
                    "step": number,
                    "seconds": round(paused - began - spent, 1),
                    "loss": None if not since else round(float(losses) / since, 4),
                    "validation": None if validation is None else dict(validation.figures),
                    "retrieval": list(measured(given.out, collections, RANKINGS[given.system], str(device))),
                }
                file.write(json.dumps(row) + "\n")
                file.flush()
                losses, since = torch.zeros((), device=device), 0
                spent += time.monotonic() - paused
            if step is None or late:
                return
            losses += trainer.learn(step, number)
            since += 1


def main(arguments: list[str] | None = None) -> int:
    """Return exit code 0, or 1 after a clear error."""
    parser = argparse.ArgumentParser(
        prog="python -m mathamr_lab.experiments.formulacurve", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("formulas", type=Path, metavar="FORMULAS")
    parser.add_argument("--system", choices=sorted(RANKINGS), default="formula-graph")
    parser.add_argument("--config", default="paper")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--collection", action="append", type=Path, required=True, metavar="NAME.npz")
    parser.add_argument(
        "--at", type=lambda text: [int(step) for step in text.split(",")], default=[0], metavar="STEP,STEP,…"
    )
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, required=True)
    try:
        train_measured(parser.parse_args(arguments))
    except MathAMRError as error:
        print(f"mathamr: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
