"""`GraphPlan`: the stages of an experiment with graph networks: graphs, training, vectors, measured runs."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.core.integrity import file_hash
from mathamr.core.modelfolder import CONFIG
from mathamr.core.settings import QDRANT_URL
from mathamr.evaluation.baselines import run as run_baseline
from mathamr.evaluation.runs import Run
from mathamr.index.engines.qdrant.server import LOCAL
from mathamr.systems.mathamr.system import MathAMRSystem
from mathamr.systems.models import load_system, model_folder
from mathamr.systems.system import System
from mathamr_lab.experiments import retrieval, thesistables, training, vectors
from mathamr_lab.experiments.collection import TestSet
from mathamr_lab.experiments.experiment import Strategy, Variant
from mathamr_lab.experiments.lines import LineSystem, line_settings
from mathamr_lab.experiments.materials import Materials
from mathamr_lab.experiments.plan import NO_SEED, JudgedTest, Plan
from mathamr_lab.experiments.setting import APPROXIMATE, EXACT, ExperimentSetting
from mathamr_lab.experiments.stage import Figures, Stage
from mathamr_lab.recipes.prepared import say
from mathamr_lab.recipes.recipe import MODEL, TrainingSettings, TrainingSources

_UNTRAINED = ("learning_rate=0.0", "minimum_rate=0.0", "epochs=1")
"""A training that leaves the first weights as they are."""

_EXACT_THROUGHOUT = f"{QDRANT_URL.name}={LOCAL} searches exactly, also in the rows of approximate search"


class GraphPlan(Plan):
    """The stages of an experiment with graph networks."""

    def __init__(self, setting: ExperimentSetting) -> None:
        super().__init__(setting)
        self.materials = Materials(setting, self.stages)
        # Stages run seed by seed, so that all variants can be compared early.
        for seed in range(setting.seeds):
            for variant in setting.graphs.variants:
                if setting.wants(variant.name) and (seed == 0 or not variant.model):
                    self._variant(variant, seed)
        for name in setting.baselines:
            for test in setting.tests:
                self.measure(
                    *(name, NO_SEED, JudgedTest.of(test)),
                    setting.out / "runs" / "baselines" / name / f"{test.name}.run",
                    {"baseline": name},
                    (self.materials.corpus(),),
                    partial(self._search_baseline, name, test),
                )

    def check(self) -> None:
        """Refuse approximate search without a server; the client's own engine can only show that everything runs."""
        if self.setting.engine != APPROXIMATE:
            return
        if not QDRANT_URL.value:
            raise MathAMRError(
                f"{self.setting.experiment.name} searches in the engine {APPROXIMATE}, which is a server: put its address into"
                f" {QDRANT_URL.name}, like http://localhost:6333; {LOCAL!r} takes its client alone, which searches exactly"
            )
        if self._is_exact_throughout():
            say(f"warning: {_EXACT_THROUGHOUT}")

    def markdown(self) -> str:
        """Return the tables in the thesis's form."""
        marks = {stage.name: stage.mark() for stage in self.stages if stage.kind == "graphs"}
        corpus = marks["graphs of the posts"]
        pairs = [mark.figures["pairs"] for name, mark in marks.items() if name.startswith("pairs") and mark]
        counts = {**(corpus.figures if corpus else {}), "pairs": min(pairs, default=0)}
        tables = thesistables.markdown(self.setting, self.measured, counts)
        return f"{tables}\n{_EXACT_THROUGHOUT}\n" if self._is_exact_throughout() else tables

    def _is_exact_throughout(self) -> bool:
        searches = self.setting.engine == APPROXIMATE and self.setting.graphs.is_approximate
        return searches and QDRANT_URL.value == LOCAL

    def _index_folder(self, variant: Variant, seed: int) -> Path:
        return self.setting.out / "index" / self._model_path(variant, seed)

    def _model_path(self, variant: Variant, seed: int) -> Path:
        what = variant.graphs.name if variant.reads == "graphs" else variant.reads
        if variant.model:
            return Path(what) / f"{variant.model}{'-coreference' if variant.coreference else ''}"
        scale = self.setting.scale
        changed = ",".join((scale.name, *scale.changed(scale.effective(_changes(variant))).changes))
        return Path(what) / changed / f"seed-{seed}"

    def _system(self, variant: Variant, seed: int) -> System:
        own = self.setting.out / "models" / self._model_path(variant, seed) / MODEL
        folder, device = model_folder(variant.model or own), self.setting.device
        if variant.reads == "lines":
            return LineSystem(MathAMRSystem.load(folder, device), self.setting.scale.pieces)
        return load_system(folder, device)

    def _train(self, variant: Variant, seed: int) -> Stage | None:
        setting = self.setting
        if variant.model:
            return None
        path = self._model_path(variant, seed)
        folder = setting.out / "models" / path
        scale, changes = setting.scale, _changes(variant)
        if variant.reads == "lines":
            system, settings = "mathamr", line_settings(scale, changes, seed)
            inputs: Figures = {"changes": settings.changes}
            source, pairs = self.materials.line_file(variant.graphs), self.materials.lines(variant.graphs)
        else:
            own = tuple(f"graph.{each}" for each in scale.settings(changes, seed))
            system, settings = "mathamr-plus", TrainingSettings(config=scale.config, changes=own)
            inputs = dict(zip(("model", "training"), scale.configurations(changes, seed), strict=True))
            source, pairs = self.materials.shard(variant.graphs), self.materials.pairs(variant.graphs)
        sources = TrainingSources(path=source)
        work = partial(training.train_system, system, sources, settings, folder, setting.device)
        return self.stages.add(Stage("train", f"train {path}", folder / "done.json", inputs, (pairs,), work))

    def _index(self, variant: Variant, seed: int) -> Stage:
        path, folder = self._model_path(variant, seed), self._index_folder(variant, seed)
        train = self._train(variant, seed)
        inputs: Figures = {"naming": vectors.NAMING}
        if train is None:
            inputs["model"] = file_hash(model_folder(variant.model) / CONFIG)
            needs = (self.materials.corpus(), self.materials.topic_graphs())
        else:
            needs = (train, self.materials.tensors(variant.graphs))

        def work() -> Figures:
            catalogue, store = self.materials.catalogue(), self.materials.store
            system, joined = self._system(variant, seed), variant.coreference
            return vectors.encode_posts(system, catalogue, store, folder, coreference=joined)

        return self.stages.add(Stage("index", f"index {path}", folder / "done.json", inputs, needs, work))

    def _engine(self, variant: Variant, seed: int) -> Stage:
        index, name = self._index_folder(variant, seed), self.setting.engine
        return self.stages.add(
            Stage(
                "index",
                f"index {self._model_path(variant, seed)} in the engine {name}",
                index / f"{name}.json",
                {"engine": name, "options": vectors.OPTIONS.get(name, {})},
                (self._index(variant, seed),),
                lambda: vectors.copy_into(index, name),
            )
        )

    def _variant(self, variant: Variant, seed: int) -> None:
        engine, index = self.setting.engine, self._index(variant, seed)
        needs = (index,) if engine == EXACT else (index, self._engine(variant, seed))
        inside = "" if engine == EXACT else f"-in-{engine}"
        for test in self.setting.tests:
            # Formulas have one vector each, so the ranking of posts does not matter to them.
            ranking = variant.strategy if test.task == "answers" else Strategy()
            path = self._model_path(variant, seed) / f"{ranking.name}{inside}" / f"{test.name}.run"
            self.measure(
                *(variant.name, seed, JudgedTest.of(test)),
                self.setting.out / "runs" / path,
                {"strategy": ranking.name, "engine": engine},
                needs,
                partial(self._search, test, ranking, variant, seed, index),
                train=self._train(variant, seed),
            )

    def _search(
        self, test: TestSet, strategy: Strategy, variant: Variant, seed: int, index: Stage
    ) -> tuple[Run, Figures]:
        system = self._system(variant, seed)
        asked = vectors.encode_topics(system, test, self.materials.topics, coreference=variant.coreference)
        catalogue, engine = self.materials.catalogue(), index.mark_path.with_name(self.setting.engine)
        run, found = retrieval.search(test, strategy, type(system), asked, engine, catalogue)
        mark = index.mark()
        made = {} if mark is None else mark.figures
        for name, kept in (("vectors", "rows"), ("index bytes", "bytes")):
            found[name] = sum(made.get(kept, {}).get(field, 0) for field in found["fields"])
        return run, found

    def _search_baseline(self, name: str, test: TestSet) -> tuple[Run, Figures]:
        searched = filter(self.setting.collection.searches, self.setting.collection.posts())
        return run_baseline(name, searched, test.topics, test.task), {"topics": len(test.topics)}


def _changes(variant: Variant) -> tuple[str, ...]:
    return (*variant.changes, *(_UNTRAINED if variant.is_untrained else ()))
