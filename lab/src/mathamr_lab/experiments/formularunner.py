"""Runs experiments of formula systems: trains every variant with every seed, scores collections, writes the tables.

What is done is not done again: a training leaves its model, a scoring its file. Experiments of one folder share both.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.core.errors import MathAMRError
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.runs import Run
from mathamr.evaluation.scores import Scores, evaluate
from mathamr_lab.experiments.child import run_child, stop_children, stopping_children
from mathamr_lab.experiments.formulacollection import FormulaCollection
from mathamr_lab.experiments.formulacontexts import ContextScores
from mathamr_lab.experiments.formulaexperiment import FormulaExperiment, FormulaVariant
from mathamr_lab.experiments.formulaothers import other_scores
from mathamr_lab.experiments.formulascores import fused, ranked, reciprocal_ranks
from mathamr_lab.experiments.formulatables import formula_table
from mathamr_lab.experiments.formulatraining import FormulaModel, slug
from mathamr_lab.recipes.formularecipe import FormulaRecipe
from mathamr_lab.recipes.formulas import ORDERS
from mathamr_lab.recipes.recipe import RECIPES


@dataclass(frozen=True, kw_only=True)
class FormulaSetting:
    """Where experiments run: formulas to learn from, collections to search, seeds, a folder for everything.

    `places` are the files of the collections, in their order: with them, and several `workers`, models are trained side by side.
    """

    formulas: Path
    collections: Sequence[FormulaCollection]
    out: Path
    places: Sequence[Path] = ()
    seeds: int = 3
    changes: tuple[str, ...] = ()
    device: str = "auto"
    workers: int = 1
    threads: int = 1
    so_far: bool = False
    """Nothing is made: the tables have what is there by now."""
    contexts: Mapping[str, ContextScores] = field(default_factory=dict)
    """By the name of a collection; one without texts has none."""


def run_formula_experiments(experiments: Sequence[FormulaExperiment], setting: FormulaSetting) -> list[str]:
    """Does what is left to do for some experiments of one folder; their reports."""
    runs = [FormulaRun(experiment, setting) for experiment in experiments]
    if setting.workers > 1 and not setting.so_far:
        with stopping_children():
            _SideBySide(setting).go(runs)
    return [run.report() for run in runs]


def planned_models(experiments: Sequence[FormulaExperiment], setting: FormulaSetting) -> list[str]:
    """What experiments would train, a line a model, and whether that is done; nothing is read or made."""
    runs = [FormulaRun(experiment, setting) for experiment in experiments]
    models = dict.fromkeys(
        model for seed in range(setting.seeds) for run in runs for model in run.models(seed) if model.config
    )
    lines = [f"train {model.name}{', done' if model.is_trained else ''}" for model in models]
    return [*lines, f"{sum(model.is_trained for model in models)} of {len(models)} models trained"]


class FormulaRun:
    """One experiment on its way."""

    def __init__(self, experiment: FormulaExperiment, setting: FormulaSetting) -> None:
        self.setting, self.experiment = setting, experiment

    def report(self) -> str:
        """Does what is left to do, and gives the report."""
        return "\n".join(self._report())

    def models(self, seed: int) -> list[FormulaModel]:
        """All models of a seed, each once."""
        variants = (variant for variant in self.experiment.variants if variant.system)
        return list(dict.fromkeys(self._model(variant, seed) for variant in variants))

    def prepare_others(self) -> None:
        """Makes what needs no model."""
        for collection in self.setting.collections:
            for variant in self.experiment.variants:
                for name in (*variant.others, *([variant.ranking] if not variant.system else [])):
                    self._other(name, collection)
                if variant.share < 1:
                    self._context(collection)

    def _model(self, variant: FormulaVariant, seed: int) -> FormulaModel:
        setting, changes = self.setting, tuple[str, ...]()
        if variant.config:
            recipe = RECIPES[variant.system]
            assert isinstance(recipe, FormulaRecipe)
            scale = self.experiment.scale if variant.config == "paper" else ()
            changes = (
                *(change for change in scale if change.startswith(f"{recipe.stage}.")),
                *variant.changes,
                *(change for change in setting.changes if change.startswith(f"{recipe.stage}.")),
                f"{recipe.stage}.seed={seed}",
            )
        return FormulaModel(
            system=variant.system,
            config=variant.config,
            changes=changes,
            formulas=setting.formulas,
            models=setting.out / "models",
            device=setting.device,
        )

    def _scores(self, variant: FormulaVariant, seed: int, collection: FormulaCollection) -> FloatArray | None:
        """What candidates are worth by a row of the table; `None` where the collection has not what that takes."""
        if not variant.system:
            return self._other(variant.ranking, collection)
        model = self._model(variant, seed)
        if self.setting.so_far and not model.is_done([collection]):
            return None
        found = fused(model.scores(collection), variant.ranking, collection.ranked_ones())
        if variant.share < 1:
            context = self._context(collection)
            if context is None:
                return None
            found = variant.share * found + (1 - variant.share) * context
        if variant.others:
            others = [self._other(name, collection) for name in variant.others]
            ours = [each for each in (found, *others) if each is not None]
            whole = len(ours) == 1 + len(others)
            return reciprocal_ranks(ours, collection.ranked_ones()) if whole else None
        return found

    def _other(self, name: str, collection: FormulaCollection) -> FloatArray | None:
        path = self.setting.out / "others" / f"{slug(name)}-{slug(collection.name)}.npy"
        if not name or (self.setting.so_far and not path.exists()):
            return None
        if not path.exists():
            print(f"scoring {collection.name} by {name}", file=sys.stderr, flush=True)
            scores = other_scores(name, collection)
            if scores is None:
                return None
            path.parent.mkdir(parents=True, exist_ok=True)
            np.save(path, scores, allow_pickle=False)
        return np.asarray(np.load(path, allow_pickle=False))

    def _context(self, collection: FormulaCollection) -> FloatArray | None:
        context = self.setting.contexts.get(collection.name)
        if context is None or (self.setting.so_far and not context.path.exists()):
            return None
        return context.matrix(collection)

    def _report(self) -> Iterator[str]:
        experiment = self.experiment
        yield f"# {experiment.title}"
        yield ""
        yield f"{experiment.question} Published: {experiment.source}."
        for collection in self.setting.collections:
            qrels = Qrels(collection.grades).with_relevant()
            found: dict[str, list[Scores]] = {}
            for variant in experiment.variants:
                seeds = range(self.setting.seeds if variant.system and variant.config else 1)
                matrices = (self._scores(variant, seed, collection) for seed in seeds)
                found[variant.name] = [
                    evaluate(
                        Run.of(variant.name, ranked(collection, matrix)), qrels, measures(experiment.measures)
                    )
                    for matrix in matrices
                    if matrix is not None
                ]
            yield from formula_table(experiment, collection, qrels, found)


class _SideBySide:
    """All models of some experiments, several at a time, each in a process of its own."""

    def __init__(self, setting: FormulaSetting) -> None:
        self._setting = setting
        if len(setting.places) != len(setting.collections):
            raise MathAMRError("models are trained side by side for collections in files")

    def go(self, runs: Sequence[FormulaRun]) -> None:
        """Seed by seed; those that learn from a teacher last, since its orders are made first. What needs no model is made here."""
        setting = self._setting
        left: dict[FormulaModel, None] = {}
        for seed in range(setting.seeds):
            models = [model for run in runs for model in run.models(seed)]
            left |= dict.fromkeys(
                model
                for model in sorted(models, key=lambda each: each.is_taught)
                if not model.is_done(setting.collections)
            )
        orders = setting.formulas.with_name(ORDERS)
        pool = ThreadPoolExecutor(setting.workers)
        try:
            teacher: Future[None] | None = None
            if any(model.is_taught for model in left) and not orders.exists():
                teacher = pool.submit(self._make_orders, orders)
            going = [pool.submit(self._train, model, teacher) for model in left]
            for run in runs:
                run.prepare_others()
            wait(going)
            # One that failed has not stopped the others: the same command trains what is left.
            for each in going:
                each.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            stop_children()
            pool.shutdown()

    def _make_orders(self, orders: Path) -> None:
        command = [sys.executable, "-m", "mathamr_lab.recipes.formulaorders"]
        command += [str(self._setting.formulas), str(orders)]
        command += ["--workers", str(self._setting.workers)]
        run_child("the teacher's orders", command, orders.parent / "teacher", "orders.log", 1)

    def _train(self, model: FormulaModel, teacher: Future[None] | None) -> None:
        if model.is_taught and teacher is not None:
            teacher.result()
        model.score_apart(self._setting.places, self._setting.threads)
