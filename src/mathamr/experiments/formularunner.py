"""Runs experiments of formula systems: trains every variant with every seed, scores collections, writes the table.

What is done is not done again: a training leaves its model, a scoring its file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mathamr.errors import MathAMRError
from mathamr.evaluation.comparison import compare
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.randomorder import random_scores
from mathamr.evaluation.runs import Run
from mathamr.evaluation.scores import Scores, evaluate
from mathamr.experiments.formulacollection import FormulaCollection
from mathamr.experiments.formulacontexts import ContextScores
from mathamr.experiments.formulaexperiment import OTHERS, FormulaExperiment, FormulaVariant
from mathamr.experiments.formulaothers import other_scores
from mathamr.experiments.formulascores import Matrix, collection_scores, fused, ranked, reciprocal_ranks
from mathamr.layers.device import chosen_device
from mathamr.systems.modelfolder import load_system
from mathamr.systems.training.prepared import prepare, train_prepared
from mathamr.systems.training.recipe import TrainingSettings, TrainingSources
from mathamr.training.resources import Resources

CONTEXT = " with context"
RRF = ", rrf"
LAMBDA = 0.5


@dataclass(frozen=True, kw_only=True)
class FormulaSetting:
    """Where an experiment runs: formulas to learn from, collections to search, seeds, a folder for everything."""

    experiment: FormulaExperiment
    formulas: Path
    collections: Sequence[FormulaCollection]
    out: Path
    seeds: int = 3
    changes: tuple[str, ...] = ()
    device: str = "auto"
    contexts: Mapping[str, ContextScores] = field(default_factory=dict)
    """By the name of a collection; one without texts has none."""


class FormulaRun:
    """One experiment on its way."""

    def __init__(self, setting: FormulaSetting) -> None:
        self.setting, self.experiment = setting, setting.experiment

    def go(self) -> str:
        """Does what is left to do, and gives the report."""
        return "\n".join(self._report())

    def _model(self, variant: FormulaVariant, seed: int) -> Path:
        """Trains a variant with a seed, unless that was done."""
        setting, stage = self.setting, _stage(variant.system)
        scale = [change for change in self.experiment.scale if change.startswith(f"{stage}.")]
        changes = [*scale, *variant.changes, *setting.changes, f"{stage}.seed={seed}"]
        name = "-".join([variant.system, variant.config, *(each.split(".", 1)[1] for each in changes)])
        out = setting.out / "models" / name.replace("/", "_")
        if not (out / "model" / "config.json").exists() or not (out / "done").exists():
            print(f"training {name}", file=sys.stderr, flush=True)
            settings = TrainingSettings(config=variant.config, changes=tuple(changes))
            prepare(variant.system, TrainingSources(path=setting.formulas), settings, out / "prepared")
            resources = Resources(device=chosen_device(setting.device), threads=2)
            for _ in train_prepared(out / "prepared", out, resources):
                pass
            (out / "done").touch()
        return out / "model"

    def _scores(self, variant: FormulaVariant, seed: int, collection: FormulaCollection) -> Matrix | None:
        if not variant.system:
            return self._other(variant.ranking, collection)
        folder = self._model(variant, seed)
        path = folder.parent / f"scores-{_slug(collection.name)}.npz"
        if path.exists():
            with np.load(path, allow_pickle=False) as file:
                scores = {name: file[name] for name in file.files}
        else:
            scores = collection_scores(load_system(folder, self.setting.device), collection)
            np.savez_compressed(path, allow_pickle=False, **scores)
        return self._ranking(variant.ranking, fused(scores), collection)

    def _ranking(
        self, name: str, scores: Mapping[str, Matrix], collection: FormulaCollection
    ) -> Matrix | None:
        if name.endswith(CONTEXT):
            context = self.setting.contexts.get(collection.name)
            if context is None:
                return None
            return LAMBDA * scores[name.removesuffix(CONTEXT)] + (1 - LAMBDA) * context.matrix(collection)
        if name.endswith(RRF):
            own, *others = name.removesuffix(RRF).split(", ")
            found = [scores[own], *(self._other(each, collection) for each in others)]
            return reciprocal_ranks(found)
        if name not in scores:
            raise MathAMRError(f"there is no ranking {name!r}; known: {', '.join(scores)}")
        return scores[name]

    def _other(self, name: str, collection: FormulaCollection) -> Matrix:
        assert name in OTHERS
        path = self.setting.out / f"{_slug(name)}-{_slug(collection.name)}.npy"
        if not path.exists():
            print(f"scoring {collection.name} by {name}", file=sys.stderr, flush=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            np.save(path, other_scores(name, collection), allow_pickle=False)
        return np.asarray(np.load(path, allow_pickle=False))

    def _evaluated(
        self, variant: FormulaVariant, seed: int, collection: FormulaCollection, qrels: Qrels
    ) -> Scores | None:
        scores = self._scores(variant, seed, collection)
        if scores is None:
            return None
        return evaluate(
            Run.of(variant.name, ranked(collection, scores)), qrels, measures(self.experiment.measures)
        )

    def _report(self) -> Iterator[str]:
        experiment, seeds = self.experiment, range(self.setting.seeds)
        yield f"# {experiment.title}"
        yield ""
        yield f"{experiment.question} Published: {experiment.source}."
        for collection in self.setting.collections:
            qrels = Qrels(collection.grades).with_relevant()
            found: dict[str, list[Scores]] = {}
            for variant in experiment.variants:
                many = seeds if variant.system else range(1)
                values = [self._evaluated(variant, seed, collection, qrels) for seed in many]
                found[variant.name] = [value for value in values if value is not None]
            yield from self._table(collection, qrels, found)

    def _table(
        self, collection: FormulaCollection, qrels: Qrels, found: Mapping[str, Sequence[Scores]]
    ) -> Iterator[str]:
        experiment = self.experiment
        names = [str(measure) for measure in measures(experiment.measures)]
        averaged = {name: _averaged(name, values) for name, values in found.items() if values}
        comparison = compare(list(averaged.values()), experiment.baseline)
        yield ""
        yield f"## {collection.name}: {len(qrels.grades)} topics, {len(collection.candidates):,} formulas"
        yield ""
        yield f"Means over {self.setting.seeds} seeds, ± their deviation; * differs from {experiment.baseline} (paired t-test by topic, Bonferroni corrected, p < .05)."
        yield ""
        yield f"| variant | {' | '.join(names)} | published |"
        yield f"|{'---|' * (len(names) + 2)}"
        floor = random_scores(qrels, measures(experiment.measures), 0)
        yield f"| random order | {' | '.join(f'{floor.mean(name):.3f}' for name in names)} | |"
        for variant in experiment.variants:
            if variant.name not in averaged:
                continue
            cells = []
            for name in names:
                means = [scores.mean(name) for scores in found[variant.name]]
                difference = comparison.difference(variant.name, name)
                star = "*" if difference is not None and difference.is_significant else ""
                spread = f" ± {np.std(means):.3f}" if len(means) > 1 else ""
                cells.append(f"{np.mean(means):.3f}{star}{spread}")
            printed = ", ".join(f"{name} {value:g}" for name, value in variant.published.items())
            yield f"| {variant.name} | {' | '.join(cells)} | {printed} |"


def _averaged(name: str, values: Sequence[Scores]) -> Scores:
    """Topic by topic the mean over seeds."""
    first = values[0]
    return Scores(
        name,
        {
            measure: {
                topic: float(np.mean([each.values[measure][topic] for each in values]))
                for topic in first.values[measure]
            }
            for measure in first.values
        },
    )


def _stage(system: str) -> str:
    return {"formula-graph": "nodes", "ssemb": "structure"}[system]


def _slug(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name.lower())
