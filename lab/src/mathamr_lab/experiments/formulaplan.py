"""`FormulaPlan`: the stages of an experiment with systems that read formulas alone.

OUT/formulas       the formulas to learn from, and the collections to search
OUT/models/MODEL   a model, and its scores on every collection; experiments of one folder share both
OUT/others         scores without a network
OUT/NAME/scores    the run and the measures of every variant, seed and collection
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import tee
from pathlib import Path
from typing import Any

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.core.errors import MathAMRError
from mathamr.core.settings import TREES
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.randomorder import random_scores
from mathamr.evaluation.runs import DEPTH, Run, read_run
from mathamr.evaluation.topics import Topic, read_topics
from mathamr.graphs.formulashard import FormulaShard
from mathamr.posts.post import Post
from mathamr.search.fusion import RANK_OFFSET, fuse
from mathamr.systems.formulagraph.system import VIEW_OF
from mathamr.systems.models import load_system
from mathamr.systems.ssemb.context import ContextReader
from mathamr_lab.experiments.collection import TestSet
from mathamr_lab.experiments.experiment import FormulaExperiment, FormulaVariant
from mathamr_lab.experiments.formulacollection import POOL, FormulaCollection, task2_collection
from mathamr_lab.experiments.formulaothers import other_scores
from mathamr_lab.experiments.formulascores import NOT_FOUND, collection_scores, first_scores, found_in
from mathamr_lab.experiments.judgedpool import POOL_NAME, pool_collection
from mathamr_lab.experiments.ntcir12 import MEASURES as NTCIR_MEASURES
from mathamr_lab.experiments.ntcir12 import NTCIR_NAME, distinct_trees, is_ntcir12, ntcir12_collection
from mathamr_lab.experiments.ntcir12 import RELEVANT as NTCIR_RELEVANT
from mathamr_lab.experiments.plan import NO_SEED, JudgedTest, NotApplicableError, Plan
from mathamr_lab.experiments.rerank import by_visual
from mathamr_lab.experiments.setting import ExperimentSetting
from mathamr_lab.experiments.stage import Figures, Stage
from mathamr_lab.experiments.tables import MeasuredRow, comparison_table
from mathamr_lab.experiments.training import TrainedModel, train_system
from mathamr_lab.recipes.formularecipe import FormulaRecipe
from mathamr_lab.recipes.formulas import FORMULAS, prepare_formulas, prepare_orders
from mathamr_lab.recipes.prepared import say
from mathamr_lab.recipes.recipe import MODEL, RECIPES, TrainingSettings, TrainingSources

UNTRAINED = ("learning_rate=0", "minimum_rate=0", "epochs=1")
"""The settings of a training that changes nothing."""
KEPT = 100
"""The results of a topic that are kept in the run of every row."""
POOL_OF_TEXT = 500_000
"""The formulas that are found by their structure before the text around them counts (SSEmb, section 2.3)."""


class FormulaPlan(Plan):
    """Trains every variant with every seed and scores collections."""

    def __init__(self, setting: ExperimentSetting) -> None:
        super().__init__(setting)
        assert isinstance(setting.experiment, FormulaExperiment)
        self.experiment = setting.experiment
        self._tests = {test.name: test for test in setting.collection.tests if test.task == "formulas"}
        if not self._tests and not setting.pools:
            raise MathAMRError(
                "no topics ask for formulas: name a collection with topics of Task 2, or a judged pool of formulas"
            )
        stages = list(
            dict.fromkeys(_recipe(each.system).stage for each in self.experiment.variants if each.system)
        )
        TrainingSettings(config="", changes=setting.changes).checked(stages)
        self._runs = setting.named_runs
        self.variants = (*self.experiment.variants, *setting.run_variants)
        self._pools = {NTCIR_NAME if is_ntcir12(path) else POOL_NAME: path for path in setting.pools}
        if NTCIR_NAME in self._pools and (self._tests or len(self._pools) > 1):
            raise MathAMRError(
                "the papers train a model on NTCIR-12 alone: run it by itself, with no other --corpus"
            )
        self.collections = [*self._pools, *self._tests]
        self._judged = {name: self._judged_test(name) for name in self.collections}
        for variant in self.experiment.variants:
            if variant.system:
                RECIPES[variant.system].check(self.model(variant, 0).settings)
        for seed in range(setting.seeds):
            for name in self.collections:
                for variant in self.variants:
                    if setting.wants(variant.name):
                        self._measure(variant, seed, name)

    def check(self) -> None:
        """Load the encoders of the text around formulas, which are read after the trainings."""
        for reader in {
            self._reader(each)
            for each in self.experiment.variants
            if each.system == "ssemb" and each.share < 1 and self.setting.wants(each.name)
        }:
            assert ContextReader(reader).encoder.size

    @property
    def _shared(self) -> Path:
        return self.setting.out / "formulas"

    def path(self, collection: str) -> Path:
        """Return the file of a collection."""
        return self._shared / f"{slug(collection)}.npz"

    def _collection(self, name: str) -> Stage:
        inputs: dict[str, Any] = {
            "format": 3,
            "name": name,
            "posts": self.setting.collection.digest,
            "pools": list(map(str, self.setting.pools)),
            **_trees(),
        }
        if name in self._tests:
            inputs["topics"] = self._tests[name].digest
        work = partial(self._save_collection, name)
        mark = self._shared / f"{slug(name)}.done.json"
        return self.stages.add(Stage("prepare", f"collection {name}", mark, inputs, (), work))

    def _save_collection(self, name: str) -> Figures:
        test = self._tests.get(name)
        if test is None:
            found = (ntcir12_collection if name == NTCIR_NAME else pool_collection)(self._pools[name])
        else:
            found = task2_collection(
                self.setting.collection.posts(), test.topics, test.qrels.grades, name, _years(test)
            )
        found.save(self.path(name))
        return {"formulas": len(found.candidates), "topics": len(found.topics)}

    def _formulas(self) -> Stage:
        collection, pools = self.setting.collection, self.setting.pools
        sources = [*collection.paths, *collection.further, *(pool / POOL for pool in pools)]
        if NTCIR_NAME in self._pools:
            sources = [self._pools[NTCIR_NAME]]

        def work() -> Figures:
            first, *others = sources
            if NTCIR_NAME in self._pools:
                self._shared.mkdir(parents=True, exist_ok=True)
                FormulaShard.of(distinct_trees(first)).save(self._shared / FORMULAS)
            else:
                prepare_formulas(
                    TrainingSources(path=first, posts=tuple(others)), self._shared, say, orders=False
                )
            return {}

        inputs = {"posts": collection.digest, "sources": list(map(str, sources)), **_trees()}
        mark = self._shared / "formulas.done.json"
        return self.stages.add(Stage("prepare", "formulas to learn from", mark, inputs, (), work))

    def _orders(self) -> Stage:
        """Return the stage of a teacher's orders, which all taught models of a folder learn from."""

        def work() -> Figures:
            prepare_orders(FormulaShard.load(self._shared / FORMULAS), self._shared, say)
            return {}

        mark = self._shared / "orders.done.json"
        return self.stages.add(Stage("prepare", "orders to learn from", mark, {}, (self._formulas(),), work))

    def model(self, variant: FormulaVariant, seed: int) -> TrainedModel:
        """Return the model of a variant with a seed."""
        recipe = _recipe(variant.system)
        scale = self.experiment.scale if variant.config == "paper" else ()
        wanted = (*scale, *variant.changes, *self.setting.changes, f"{recipe.stage}.seed={seed}")
        if variant.is_untrained:
            wanted += tuple(f"{recipe.stage}.{each}" for each in UNTRAINED)
        changes = tuple(change for change in wanted if change.startswith(f"{recipe.stage}."))
        return TrainedModel(variant.system, variant.config, changes)

    def _folder(self, model: TrainedModel) -> Path:
        return self.setting.out / "models" / model.name

    def _train(self, model: TrainedModel) -> Stage:
        is_taught = _recipe(model.system).is_taught(model.settings)
        needs = (self._formulas(), self._orders()) if is_taught else (self._formulas(),)
        inputs = {"system": model.system, "config": model.config, "changes": model.changes}
        mark, sources = self._folder(model) / "done.json", TrainingSources(path=self._shared / FORMULAS)
        work = partial(train_system, model.system, sources, model.settings, mark.parent, self.setting.device)
        return self.stages.add(Stage("train", f"train {model.name}", mark, inputs, needs, work))

    def scores_path(self, model: TrainedModel, collection: str) -> Path:
        """Return the folder of a model's scores, with a file for each field."""
        return self._folder(model) / f"scores-{slug(collection)}"

    def _score(self, model: TrainedModel, collection: str) -> Stage:
        needs = (self._collection(collection), self._train(model))
        path = self.scores_path(model, collection)

        def work() -> Figures:
            loaded = FormulaCollection.load(self.path(collection))
            path.mkdir(parents=True, exist_ok=True)
            collection_scores(load_system(self._folder(model) / MODEL, self.setting.device), loaded, path)
            return {}

        name, mark = f"index {model.name} on {collection}", path.with_suffix(".json")
        inputs = {"model": model.name, "format": 4}
        return self.stages.add(Stage("index", name, mark, inputs, needs, work))

    def _other(self, name: str, collection: str) -> Stage:
        path = self.setting.out / "others" / f"{slug(name)}-{slug(collection)}.npy"
        run = self._runs.get(name)
        inputs: dict[str, Any] = {"ranking": name}
        if run is not None:
            inputs["run"] = hashlib.sha256(run.read_bytes()).hexdigest()

        def work() -> Figures:
            loaded = FormulaCollection.load(self.path(collection))
            scores = other_scores(name, loaded) if run is None else self._run_scores(name, run, loaded)
            if scores is not None:
                np.save(path, scores, allow_pickle=False)
            return {}

        title, needs = f"scores of {collection} by {name}", (self._collection(collection),)
        return self.stages.add(Stage("prepare", title, path.with_suffix(".json"), inputs, needs, work))

    def _run_scores(self, name: str, path: Path, collection: FormulaCollection) -> FloatArray:
        """Return the results of another system's run, by visual id: the higher, the earlier."""
        run = by_visual({name: read_run(path)}, self.setting.collection.posts())[name]
        scores = np.full((len(collection.topics), len(collection.candidates)), NOT_FOUND, np.float32)
        for row, topic in enumerate(collection.topics):
            for place, hit in enumerate(run.rankings.get(topic, ())):
                number = collection.places.get(hit.id)
                if number is not None:
                    scores[row, number] = -place
        return scores

    def _context(self, variant: FormulaVariant, collection: str) -> Stage:
        reader = self._reader(variant)
        path, test = self._shared / f"{slug(collection)}-context-{slug(reader)}.npy", self._tests[collection]

        def work() -> Figures:
            loaded = FormulaCollection.load(self.path(collection))
            text = ContextReader(reader, self.setting.device)
            scores = context_scores(loaded, self.setting.collection.posts(), test.topics, text)
            np.save(path, scores, allow_pickle=False)
            return {}

        title, needs = (
            f"text around the formulas of {collection} by {reader}",
            (self._collection(collection),),
        )
        return self.stages.add(
            Stage("prepare", title, path.with_suffix(".json"), {"windows": "alone"}, needs, work)
        )

    def _reader(self, variant: FormulaVariant) -> str:
        model = self.model(variant, 0)
        configured = _recipe(model.system).configured(model.config, model.settings.of("structure"))
        return str(configured[-1].reader)

    def _measure(self, variant: FormulaVariant, seed: int, collection: str) -> None:
        """Add the run of a variant, if it is measured with this seed on this collection."""
        if (seed and not variant.system) or not (variant.system or variant.ranking or variant.others):
            return
        names = self._without_network(variant)
        if collection not in self._tests and (variant.share < 1 or any(name in self._runs for name in names)):
            return
        needs = [self._collection(collection), *(self._other(name, collection) for name in names)]
        if variant.share < 1:
            needs.append(self._context(variant, collection))
        if variant.system:
            needs.append(self._score(self.model(variant, seed), collection))
        self.measure(
            *(variant.name, seed if variant.system else NO_SEED, self._judged[collection]),
            self.setting.out
            / self.experiment.name
            / "scores"
            / f"{slug(f'{variant.name}, seed {seed}, {collection}')}.run",
            {"ranking": variant.ranking, "share": variant.share, "others": variant.others},
            needs,
            partial(self._search, variant, seed, collection),
            train=self._train(self.model(variant, seed)) if variant.system else None,
            kept=KEPT,
        )

    def _without_network(self, variant: FormulaVariant) -> tuple[str, ...]:
        """Return the rankings without a network that a variant consists of, or is fused with."""
        alone = () if variant.system or not variant.ranking else (variant.ranking,)
        return (*alone, *variant.others)

    def _search(self, variant: FormulaVariant, seed: int, collection: str) -> tuple[Run, Figures]:
        loaded = FormulaCollection.load(self.path(collection))
        others = [_beside(self._other(name, collection)) for name in self._without_network(variant)]
        fields: dict[str, FloatArray] = {}
        if variant.system:
            files = self.scores_path(self.model(variant, seed), collection).glob("*.npy")
            fields = {file.stem: _mapped(file) for file in files}
        context = _beside(self._context(variant, collection)) if variant.share < 1 else None

        found: dict[str, Sequence[tuple[str, float]]] = {}
        for row, topic in enumerate(loaded.topics):
            rankings: list[Sequence[tuple[str, float]]]
            rankings = [found_in(loaded, topic, each[row]) for each in others]
            if variant.ranking in fields:
                scores = fields[variant.ranking][row]
                if context is not None:
                    scores = first_scores(scores, POOL_OF_TEXT)
                    scores = variant.share * scores + (1 - variant.share) * context[row]
                rankings.insert(0, found_in(loaded, topic, scores))
            elif variant.system:
                views = [found_in(loaded, topic, fields[view][row], None) for view in VIEW_OF]
                plain = None if variant.ranking == "rrf" else "none"
                rankings.insert(0, fuse(variant.ranking, views, k=DEPTH, normalisation=plain))
            found[topic] = rankings[0] if len(rankings) == 1 else fuse("rrf", rankings)
        return Run.of(variant.name, found), {}

    def _judged_test(self, name: str) -> JudgedTest:
        """Return a collection as a test, with the judgments of the topics that have a relevant formula."""
        is_ntcir = name == NTCIR_NAME

        @cache
        def qrels() -> Qrels:
            known = Qrels(FormulaCollection.load(self.path(name)).grades)
            return known.with_relevant(NTCIR_RELEVANT) if is_ntcir else known.with_relevant()

        return JudgedTest(name, NTCIR_MEASURES if is_ntcir else self.experiment.measures, qrels)

    def tables(self) -> Iterator[tuple[str, str]]:
        """Yield a table for each prepared collection."""
        for name in self.collections:
            if self._collection(name).mark() is not None:
                loaded, test = FormulaCollection.load(self.path(name)), self._judged[name]
                qrels, chosen = test.qrels(), measures(test.measures)
                rows = [
                    MeasuredRow(
                        each.name, self.scores(each.name, name), each.published, each.known.get(name, {})
                    )
                    for each in self.variants
                ]
                lines = comparison_table(
                    rows,
                    list(map(str, chosen)),
                    baselines=self.experiment.baselines,
                    floor=random_scores(qrels, chosen, 0),
                    sets=loaded.sets,
                )
                fusion = f"Rankings are fused by reciprocal ranks with the constant {RANK_OFFSET} (Cormack et al.)."
                title = f"{name}: {len(qrels.grades)} topics, {len(loaded.candidates):,} formulas"
                yield title, "\n".join([*lines, "", fusion])


def _trees() -> dict[str, str]:
    """Return where trees come from, if it is not the default."""
    return {} if TREES.value == TREES.default else {"trees": TREES.value}


def _beside(stage: Stage) -> FloatArray:
    """Return the scores that a stage wrote beside its mark."""
    path = stage.mark_path.with_suffix(".npy")
    if not path.exists():
        raise NotApplicableError("the collection knows no LaTeX")
    return _mapped(path)


def _mapped(path: Path) -> FloatArray:
    found: FloatArray = np.load(path, mmap_mode="r", allow_pickle=False)
    return found


def _recipe(system: str) -> FormulaRecipe[Any]:
    found = RECIPES[system]
    assert isinstance(found, FormulaRecipe)
    return found


def context_scores(
    collection: FormulaCollection, posts: Iterable[Post], topics: Sequence[Topic], reader: ContextReader
) -> FloatArray:
    """Return cosines of the text around query formulas (rows) with that around candidates (SSEmb, equation 2).

    A candidate that occurs several times has its best score, one without text -1.
    """
    queries = np.zeros((len(collection.topics), reader.encoder.size))
    row = {topic: number for number, topic in enumerate(collection.topics)}
    for topic, found in zip(topics, reader.encode_windows(topic.post for topic in topics), strict=True):
        vectors = dict(found)
        if topic.formula_id in vectors and topic.id in row:
            queries[row[topic.id]] = vectors[topic.formula_id].vectors[0]
    place = collection.places
    scores = np.full((len(collection.topics), len(place)), -1.0, np.float32)
    ours, theirs = tee(posts)
    for post, found in zip(ours, reader.encode_windows(theirs), strict=True):
        visuals = {formula.id: formula.visual_id for formula in post.formulas}
        for formula, rows in found:
            number = place.get(visuals[formula] or "")
            if number is not None:
                scores[:, number] = np.maximum(scores[:, number], queries @ rows.vectors[0])
    return scores


def slug(name: str) -> str:
    """Convert a name to a part of a file name."""
    return "".join(letter if letter.isalnum() else "-" for letter in name.lower())


def _years(test: TestSet) -> dict[str, list[str]]:
    """Return the topics of each file, if there are several."""
    if len(test.files) < 2:
        return {}
    return {topics.stem: [topic.id for topic in read_topics(topics)] for topics, _ in test.files}
