"""`GraphPlan`: the stages of an experiment with graph networks: graphs, training, vectors, runs, measures."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mathamr.evaluation.baselines import run as run_baseline
from mathamr.evaluation.runs import read_run, write_run
from mathamr.evaluation.scores import Scores, evaluate
from mathamr.systems.mathamrplus.system import MathAMRPlusSystem
from mathamr.text.wording import wording_alone
from mathamr_lab.experiments import retrieval, training, vectors
from mathamr_lab.experiments.collection import TestSet
from mathamr_lab.experiments.experiment import Strategy, Variant
from mathamr_lab.experiments.materials import Materials
from mathamr_lab.experiments.plan import Plan, RowRun
from mathamr_lab.experiments.setting import EXACT, ExperimentSetting
from mathamr_lab.experiments.stage import Figures, Stage
from mathamr_lab.recipes.recipe import MODEL, TrainingSettings

SHOWN = 120
"""The characters of a post that a list of results shows."""


@dataclass(frozen=True)
class Measured:
    """One run that is measured: a variant with a seed (or a baseline, with none) on a test set."""

    variant: Variant | None
    baseline: str | None
    seed: int
    test: TestSet
    train: Stage | None
    index: Stage | None
    run: Stage
    evaluate: Stage

    def scores(self) -> Scores | None:
        """Return the scores, or `None` if the variant cannot do this task."""
        mark = self.evaluate.mark()
        if mark is None or "not applicable" in mark.figures:
            return None
        return Scores(str(mark.figures["name"]), mark.figures["values"], tuple(mark.figures["missing"]))


class GraphPlan(Plan):
    """The stages of an experiment with graph networks; `measured` lists their results."""

    def __init__(self, setting: ExperimentSetting) -> None:
        super().__init__(setting)
        self.measured: list[Measured] = []
        self.materials = Materials(setting, self.stages)
        # Stages run seed by seed, so that all variants can be compared early.
        for seed in range(setting.seeds):
            for variant in setting.graphs.variants:
                if setting.wants(variant.name):
                    self._variant(variant, seed)
        for name in setting.baselines:
            self._baseline(name)

    def row_runs(self) -> Iterator[RowRun]:
        """Yield the runs of variants and baselines that are done."""
        for each in self.measured:
            name = each.baseline if each.variant is None else each.variant.name
            path = each.run.mark_path.with_suffix(".run")
            if each.run.mark() is not None and path.exists():
                seed = -1 if each.variant is None else each.seed
                yield RowRun(str(name), seed, each.test.name, path, each.test.qrels.grades)

    def texts(self, test: str, items: Collection[str]) -> dict[str, str]:
        """Return the first words of posts, or the LaTeX of the first formula of each visual class."""
        found: dict[str, str] = {}
        for post in self.setting.collection.posts():
            if post.id in items:
                found[post.id] = " ".join(wording_alone(post)[0].text.split())[:SHOWN].replace("|", "\\|")
            for formula in post.formulas:
                if formula.visual_id in items:
                    found.setdefault(str(formula.visual_id), f"`{formula.latex}`".replace("|", "\\|"))
        return found

    def markdown(self, folder: Path) -> str:
        """Return the tables in the thesis's form; the pictures go into the folder."""
        from mathamr_lab.experiments.findings import findings
        from mathamr_lab.experiments.plots import draw
        from mathamr_lab.experiments.thesistables import markdown

        return markdown(findings(self), draw(self, folder))

    def index_folder(self, variant: Variant, seed: int) -> Path:
        """Return the folder of the vectors of a variant's model."""
        return self.setting.out / "index" / self._model_path(variant, seed)

    def _model_path(self, variant: Variant, seed: int) -> Path:
        scale = self.setting.scale
        changed = ",".join((scale.name, *scale.changed(scale.effective(variant.changes)).changes))
        return Path(variant.graphs.name) / changed / f"seed-{seed}"

    def _train(self, variant: Variant, seed: int) -> Stage:
        setting = self.setting
        path = self._model_path(variant, seed)
        folder = setting.out / "models" / path
        model, configuration = setting.scale.configurations(variant.changes, seed)
        changes = tuple(f"graph.{each}" for each in setting.scale.settings(variant.changes, seed))
        work = partial(
            training.train_graphs,
            self.materials.shard(variant.graphs),
            TrainingSettings(config=setting.scale.config, changes=changes),
            folder,
            setting.device,
        )
        return self.stages.add(
            Stage(
                "train",
                f"train {path}",
                folder / "done.json",
                {"model": model, "training": configuration},
                (self.materials.pairs(variant.graphs),),
                work,
            )
        )

    def _index(self, variant: Variant, seed: int) -> Stage:
        setting = self.setting
        path = self._model_path(variant, seed)

        def work() -> Figures:
            corpus = vectors.Corpus(
                collection=setting.collection,
                catalogue=self.materials.catalogue(),
                posts=self.materials.store,
                topics=self.materials.topics,
            )
            return vectors.encode_all(
                setting.out / "models" / path / MODEL,
                corpus,
                setting.out / "index" / path,
                setting.device,
            )

        return self.stages.add(
            Stage(
                "index",
                f"index {path}",
                setting.out / "index" / path / "done.json",
                {"naming": vectors.NAMING},
                (
                    self._train(variant, seed),
                    self.materials.tensors(variant.graphs),
                    self.materials.topic_graphs(),
                ),
                work,
            )
        )

    def _engine(self, variant: Variant, seed: int) -> Stage:
        path = self._model_path(variant, seed)
        index, name = self.setting.out / "index" / path, self.setting.engine
        return self.stages.add(
            Stage(
                "index",
                f"index {path} in the engine {name}",
                index / f"{name}.json",
                {"engine": name, "options": vectors.OPTIONS.get(name, {})},
                (self._index(variant, seed),),
                lambda: vectors.copy_into(index, name),
            )
        )

    def _variant(self, variant: Variant, seed: int) -> None:
        strategy = variant.strategy
        path = self._model_path(variant, seed)
        train, index = self._train(variant, seed), self._index(variant, seed)
        needs = (index,) if self.setting.engine == EXACT else (index, self._engine(variant, seed))
        for test in self.setting.tests:
            # Formulas have one vector each, so the ranking of posts does not matter to them.
            ranking = strategy if test.task == "answers" else Strategy()
            inside = "" if self.setting.engine == EXACT else f"-in-{self.setting.engine}"
            name = f"{path}/{ranking.name}{inside}/{test.name}"
            run_path = self.setting.out / "runs" / f"{name}.run"
            run = self.stages.add(
                Stage(
                    "run",
                    f"run {name}",
                    run_path.with_suffix(".json"),
                    {"strategy": ranking.name, "engine": self.setting.engine, "topics": test.digest},
                    needs,
                    partial(self._search, test, ranking, index, self.setting.out / "index" / path, run_path),
                )
            )
            self._measure(variant, None, seed, test, train, index, run, run_path)

    def _search(self, test: TestSet, strategy: Strategy, encoded: Stage, index: Path, path: Path) -> Figures:
        catalogue, engine = self.materials.catalogue(), self.setting.engine
        try:
            found = retrieval.search(test, strategy, MathAMRPlusSystem, index, engine, catalogue, path)
        except retrieval.NotApplicableError as error:
            return {"not applicable": str(error)}
        mark = encoded.mark()
        made = {} if mark is None else mark.figures
        for name, kept in (("vectors", "rows"), ("index bytes", "bytes")):
            found[name] = sum(made.get(kept, {}).get(field, 0) for field in found["fields"])
        return found

    def _baseline(self, name: str) -> None:
        for test in self.setting.tests:
            path = self.setting.out / "runs" / "baselines" / name / f"{test.name}.run"

            def work(test: TestSet = test, path: Path = path) -> Figures:
                path.parent.mkdir(parents=True, exist_ok=True)
                searched = filter(self.setting.collection.searches, self.setting.collection.posts())
                found = run_baseline(name, searched, test.topics, test.task)
                write_run(found, path, test.depth)
                return {"topics": len(test.topics)}

            stage = Stage(
                "run",
                f"run {name}/{test.name}",
                path.with_suffix(".json"),
                {"baseline": name, "topics": test.digest},
                (self.materials.corpus(),),
                work,
            )
            self._measure(None, name, 0, test, None, None, self.stages.add(stage), path)

    def _measure(
        self,
        variant: Variant | None,
        baseline: str | None,
        seed: int,
        test: TestSet,
        train: Stage | None,
        index: Stage | None,
        run: Stage,
        run_path: Path,
    ) -> None:
        path = run_path.with_suffix(".scores.json")
        stage = Stage(
            "evaluate",
            run.name.replace("run", "evaluate", 1),
            path,
            {"qrels": test.digest, "measures": [str(measure) for measure in test.measures]},
            (run,),
            partial(_evaluated, run, run_path, test),
        )
        self.measured.append(
            Measured(variant, baseline, seed, test, train, index, run, self.stages.add(stage))
        )


def _evaluated(run: Stage, path: Path, test: TestSet) -> Figures:
    mark = run.mark()
    if mark is not None and "not applicable" in mark.figures:
        return {"not applicable": mark.figures["not applicable"]}
    scores = evaluate(read_run(path), test.qrels, test.measures)
    return {
        "name": scores.run,
        "values": {measure: dict(values) for measure, values in scores.values.items()},
        "missing": list(scores.missing),
    }
