"""`FormulaPlan`: the stages of an experiment with systems that read formulas alone.

OUT/formulas       the formulas to learn from; beds of formulas as posts, each with an index and its rankings without a network
OUT/models/MODEL   a model, and its runs on every bed by all rankings of its system; experiments of one folder share both
OUT/NAME/scores    the run and the measures of every variant, seed and bed
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from mathamr.core.errors import MathAMRError
from mathamr.core.settings import TREES
from mathamr.evaluation.baselines import candidates
from mathamr.evaluation.fusedruns import fuse_runs
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.randomorder import random_scores
from mathamr.evaluation.runs import Run, read_run, write_run
from mathamr.graphs.formulashard import FormulaShard
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.search.fusion import RANK_OFFSET
from mathamr.systems.formulagraph.system import ROWS, FormulaGraphSystem
from mathamr.systems.ranking import Fuse, Lexical, MaxSim, NearestRows, Ranking, Rerank
from mathamr.systems.ssemb.context import ContextReader
from mathamr.systems.ssemb.system import SsembSystem
from mathamr_lab.experiments.experiment import FormulaExperiment, FormulaVariant
from mathamr_lab.experiments.formulabed import FormulaBed, bed_of, formula_post, write_posts
from mathamr_lab.experiments.formulaothers import MOST, other_run
from mathamr_lab.experiments.indexes import index_from, index_posts, search_index
from mathamr_lab.experiments.judgedformulas import judged_items
from mathamr_lab.experiments.judgedpool import pool_bed
from mathamr_lab.experiments.ntcir12 import NTCIR_NAME, is_ntcir12, ntcir12_bed
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
ANY_MODEL = "formula-graph"
"""The model of the index that the others are made from, and that answers without a network."""
TEXT = "paper"
"""The ranking of SSEmb that reads the text around formulas."""
WITHOUT_NETWORK: Mapping[str, Ranking] = {"lexical": Lexical()}
"""The rankings without a network that an index has."""


def from_nearest(ranking: Ranking) -> Ranking:
    """Return a ranking by nodes whose candidates are those of the nearest nodes of each query node, as in the paper (Amador and Zanibbi,
    section 4).
    """
    match ranking:
        case MaxSim(field):
            return Rerank(first=NearestRows(field, rows=ROWS), then=ranking)
        case Fuse(parts=parts):
            found = tuple(replace(part, ranking=from_nearest(part.ranking)) for part in parts)
            return replace(ranking, parts=found)
    return ranking


_NODES = {
    name: FormulaGraphSystem.rankings["formulas"][name]
    for name in ("layout", "operators", "max", "mean", "f1", "rrf")
}
RANKINGS: Mapping[str, Mapping[str, Ranking]] = {
    "formula-graph": _NODES,
    "ssemb": {name: SsembSystem.rankings["formulas"][name] for name in ("structure", TEXT)},
}
"""By system: the rankings of its rows, over all formulas."""


class FormulaPlan(Plan):
    """Trains every variant with every seed, and ranks the formulas of beds with it."""

    def __init__(self, setting: ExperimentSetting) -> None:
        super().__init__(setting)
        assert isinstance(setting.experiment, FormulaExperiment)
        self.experiment = setting.experiment
        tests = [bed_of(test) for test in setting.collection.tests if test.task == "formulas"]
        if not tests and not setting.pools:
            raise MathAMRError(
                "no topics ask for formulas: name a collection with topics of Task 2, or a judged pool of formulas"
            )
        stages = list(
            dict.fromkeys(_recipe(each.system).stage for each in self.experiment.variants if each.system)
        )
        TrainingSettings(config="", changes=setting.changes).checked(stages)
        self._runs = setting.named_runs
        self.variants = (*self.experiment.variants, *setting.run_variants)
        pools = [ntcir12_bed(path) if is_ntcir12(path) else pool_bed(path) for path in setting.pools]
        self.beds = {bed.name: bed for bed in (*pools, *tests)}
        if NTCIR_NAME in self.beds and len(self.beds) > 1:
            raise MathAMRError(
                "the papers train a model on NTCIR-12 alone: run it by itself, with no other --corpus"
            )
        self._judged = {
            name: JudgedTest(name, bed.measures or self.experiment.measures, bed.qrels, bed.digest)
            for name, bed in self.beds.items()
        }
        for variant in self.experiment.variants:
            if variant.system:
                RECIPES[variant.system].check(self.model(variant, 0).settings)
        for seed in range(setting.seeds):
            for bed in self.beds.values():
                for variant in self.variants:
                    if setting.wants(variant.name):
                        self._measure(variant, seed, bed)

    def check(self) -> None:
        """Load the encoders of the text around formulas, which are read after the trainings."""
        for reader in {
            self._reader(each)
            for each in self.experiment.variants
            if each.system == "ssemb" and self.setting.wants(each.name)
        }:
            assert not reader or ContextReader(reader).encoder.size

    @property
    def _shared(self) -> Path:
        return self.setting.out / "formulas"

    def path(self, bed: FormulaBed) -> Path:
        """Return the folder of a bed: its posts, its index, and its rankings without a network."""
        return self._shared / slug(bed.name)

    def _file(self, bed: FormulaBed) -> Path:
        return self.path(bed) / "posts.jsonl"

    def _own(self, bed: FormulaBed) -> tuple[Path, ...]:
        """Return the posts of a bed; none if they are those of the collection."""
        return () if bed.formulas is None else (self._file(bed),)

    def _posts(self, bed: FormulaBed) -> Iterator[Post]:
        if bed.formulas is None:
            return self.setting.collection.posts()
        return read_posts(self._file(bed), Report())

    def _written(self, bed: FormulaBed) -> Stage:
        """Return the stage that writes the formulas of a bed without posts as posts."""

        def work() -> Figures:
            self.path(bed).mkdir(parents=True, exist_ok=True)
            assert bed.formulas is not None
            return {"formulas": write_posts(map(formula_post, bed.formulas()), self._file(bed))}

        inputs = {"source": bed.digest}
        mark = self.path(bed) / "posts.done.json"
        return self.stages.add(Stage("prepare", f"posts of {bed.name}", mark, inputs, (), work))

    def _index(self, bed: FormulaBed) -> Stage:
        """Return the stage that indexes a bed; the index of each model is made from it, since only their vectors differ."""

        def work() -> Figures:
            judged = judged_items(bed.qrels())
            count = found = 0
            for each in candidates(self._posts(bed), "formulas"):
                count += 1
                found += each.id in judged
            if not found:
                raise MathAMRError(
                    f"{bed.name}: no judged formula of a topic is among the {count:,} visual classes of the posts; topics, judgments"
                    " (by visual id) and posts must be of one collection"
                )
            index_posts(self.setting, self._index_folder(bed), ANY_MODEL, self._own(bed))
            return {"formulas": count, "topics": len(bed.topics())}

        inputs: dict[str, Any] = {"posts": self.setting.collection.digest, "bed": bed.digest, **_trees()}
        needs = () if bed.formulas is None else (self._written(bed),)
        mark = self.path(bed) / "index.done.json"
        return self.stages.add(Stage("prepare", f"index {bed.name}", mark, inputs, needs, work))

    def _index_folder(self, bed: FormulaBed) -> Path:
        return self.path(bed) / "index"

    def _formulas(self) -> Stage:
        collection = self.setting.collection
        alone = [bed for bed in self.beds.values() if bed.formulas is not None]
        sources = (*collection.paths, *collection.further, *map(self._file, alone))

        def work() -> Figures:
            first, *others = sources
            learned = TrainingSources(path=first, posts=tuple(others))
            prepare_formulas(learned, self._shared, say, orders=False)
            return {}

        inputs = {"posts": collection.digest, "sources": list(map(str, sources)), **_trees()}
        needs, mark = tuple(map(self._written, alone)), self._shared / "formulas.done.json"
        return self.stages.add(Stage("prepare", "formulas to learn from", mark, inputs, needs, work))

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
        if variant.system == "ssemb" and not any(self._shares(variant, each) for each in self.variants):
            wanted += (f"{recipe.stage}.reader=",)
        changes = tuple(change for change in wanted if change.startswith(f"{recipe.stage}."))
        return TrainedModel(variant.system, variant.config, changes)

    def _shares(self, variant: FormulaVariant, other: FormulaVariant) -> bool:
        """Return True if another row reads the text around formulas with the same model; without one no text is encoded."""
        same = (variant.config, variant.changes, variant.is_untrained)
        return (other.config, other.changes, other.is_untrained) == same and other.ranking == TEXT

    def _folder(self, model: TrainedModel) -> Path:
        return self.setting.out / "models" / model.name

    def _train(self, model: TrainedModel) -> Stage:
        is_taught = _recipe(model.system).is_taught(model.settings)
        needs = (self._formulas(), self._orders()) if is_taught else (self._formulas(),)
        inputs = {"system": model.system, "config": model.config, "changes": model.changes}
        mark, sources = self._folder(model) / "done.json", TrainingSources(path=self._shared / FORMULAS)
        work = partial(train_system, model.system, sources, model.settings, mark.parent, self.setting.device)
        return self.stages.add(Stage("train", f"train {model.name}", mark, inputs, needs, work))

    def runs_of(self, model: TrainedModel, bed: FormulaBed) -> Path:
        """Return the folder of a model's runs, with a file for each ranking of its system."""
        return self._folder(model) / f"runs-{slug(bed.name)}"

    def _rank(self, model: TrainedModel, bed: FormulaBed) -> Stage:
        """Return the stage that indexes a bed with a model, and searches it by each ranking that the bed has something for."""
        folder = self.runs_of(model, bed)

        def work() -> Figures:
            folder.mkdir(parents=True, exist_ok=True)
            rankings = dict(RANKINGS[model.system])
            if bed.formulas is not None or "structure.reader=" in model.changes:
                rankings.pop(TEXT, None)
            if not bed.among_judged:
                rankings = {name: from_nearest(ranking) for name, ranking in rankings.items()}
            start, own = self._index_folder(bed), self._own(bed)
            with index_from(self.setting, start, self._folder(model) / MODEL, own) as index:
                self._search_bed(bed, index, rankings, folder)
            return {}

        name, mark = f"index {model.name} on {bed.name}", folder.with_suffix(".json")
        inputs, needs = {"model": model.name, "format": 5}, (self._index(bed), self._train(model))
        return self.stages.add(Stage("index", name, mark, inputs, needs, work))

    def _search_bed(
        self, bed: FormulaBed, index: Path, rankings: Mapping[str, Ranking], folder: Path
    ) -> None:
        """Write a run for each of the rankings."""
        device, among = self.setting.device, _among(bed)
        for run in search_index(index, bed.topics(), "formulas", rankings, device=device, among=among):
            write_run(run, folder / f"{slug(run.name)}.run", MOST)

    def _other(self, name: str, bed: FormulaBed) -> Stage:
        """Return the stage of a ranking without a network, or of another system's run."""
        path = self.path(bed) / f"{slug(name)}.run"
        run = self._runs.get(name)
        inputs: dict[str, Any] = {"ranking": name}
        if run is not None:
            inputs["run"] = hashlib.sha256(run.read_bytes()).hexdigest()

        def work() -> Figures:
            if name in WITHOUT_NETWORK:
                self._search_bed(bed, self._index_folder(bed), {name: WITHOUT_NETWORK[name]}, path.parent)
                return {}
            if run is not None:
                found = by_visual({name: read_run(run)}, self._posts(bed))[name]
            else:
                found = other_run(name, self._posts(bed), bed.topics(), _among(bed))
            write_run(found, path, MOST)
            return {}

        title, needs = f"{bed.name} by {name}", (self._index(bed),)
        return self.stages.add(Stage("prepare", title, path.with_suffix(".json"), inputs, needs, work))

    def _reader(self, variant: FormulaVariant) -> str:
        model = self.model(variant, 0)
        configured = _recipe(model.system).configured(model.config, model.settings.of("structure"))
        return str(configured[-1].reader)

    def _measure(self, variant: FormulaVariant, seed: int, bed: FormulaBed) -> None:
        """Add the run of a variant, if it is measured with this seed on this bed."""
        if (seed and not variant.system) or not (variant.system or variant.ranking or variant.others):
            return
        alone = () if variant.system or not variant.ranking else (variant.ranking,)
        others = [self._other(name, bed) for name in (*alone, *variant.others)]
        if bed.formulas is not None and (
            variant.ranking == TEXT or any(name in self._runs for name in (*alone, *variant.others))
        ):
            return
        parts = [stage.mark_path.with_suffix(".run") for stage in others]
        train = None
        if variant.system:
            model = self.model(variant, seed)
            train = self._train(model)
            parts.insert(0, self.runs_of(model, bed) / f"{variant.ranking}.run")
            others.append(self._rank(model, bed))
        self.measure(
            *(variant.name, seed if variant.system else NO_SEED, self._judged[bed.name]),
            self.setting.out
            / self.experiment.name
            / "scores"
            / f"{slug(f'{variant.name}, seed {seed}, {bed.name}')}.run",
            {"ranking": variant.ranking, "others": variant.others},
            others,
            partial(_joined, variant.name, parts),
            train=train,
            kept=KEPT,
        )

    def tables(self) -> Iterator[tuple[str, str]]:
        """Yield a table for each bed that is indexed."""
        for name, bed in self.beds.items():
            mark = self._index(bed).mark()
            if mark is not None:
                test = self._judged[name]
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
                    sets=bed.sets,
                )
                fusion = f"Rankings are fused by reciprocal ranks with the constant {RANK_OFFSET} (Cormack et al.)."
                title = f"{name}: {len(qrels.grades)} topics, {mark.figures['formulas']:,} formulas"
                yield title, "\n".join([*lines, "", fusion])


def _joined(name: str, parts: Sequence[Path]) -> tuple[Run, Figures]:
    """Return the run in a file, or several fused; one without results cannot be measured."""
    runs = [read_run(path) for path in parts if path.stat().st_size]
    if len(runs) < len(parts):
        raise NotApplicableError("a ranking has found nothing: the formulas have no LaTeX")
    return Run(name, runs[0].rankings) if len(runs) == 1 else fuse_runs(runs, "rrf", name=name), {}


def _among(bed: FormulaBed) -> Qrels | None:
    """Return the judgments that say what is ranked, if not everything is."""
    return bed.qrels() if bed.among_judged else None


def _trees() -> dict[str, str]:
    """Return where trees come from, if it is not the default."""
    return {} if TREES.value == TREES.default else {"trees": TREES.value}


def _recipe(system: str) -> FormulaRecipe[Any]:
    found = RECIPES[system]
    assert isinstance(found, FormulaRecipe)
    return found


def slug(name: str) -> str:
    """Convert a name to a part of a file name."""
    return "".join(letter if letter.isalnum() else "-" for letter in name.lower())
