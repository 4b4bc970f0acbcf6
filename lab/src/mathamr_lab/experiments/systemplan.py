"""`SystemPlan`: whole systems, ours or of other packages: trained by their recipes, indexed, searched and fused."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.core.integrity import file_hash
from mathamr.core.modelfolder import CONFIG
from mathamr.evaluation.fusedruns import fuse_runs
from mathamr.evaluation.runs import Run, read_run
from mathamr.systems.models import model_folder, system_of
from mathamr_lab.experiments.collection import TestSet
from mathamr_lab.experiments.experiment import SystemExperiment, SystemRow
from mathamr_lab.experiments.indexes import index_posts, search_index
from mathamr_lab.experiments.plan import NO_SEED, JudgedTest, MeasuredRun, NotApplicableError, Plan, Search
from mathamr_lab.experiments.setting import ExperimentSetting
from mathamr_lab.experiments.stage import Figures, Stage
from mathamr_lab.experiments.tables import MeasuredRow, comparison_table
from mathamr_lab.experiments.training import TrainedModel, train_system
from mathamr_lab.recipes.recipe import MODEL, RECIPES, TrainingSources


class SystemPlan(Plan):
    """Trains the rows that have a recipe, indexes the posts with every model, and searches or fuses."""

    def __init__(self, setting: ExperimentSetting) -> None:
        super().__init__(setting)
        assert isinstance(setting.experiment, SystemExperiment)
        self.experiment = setting.experiment
        for row in self.experiment.variants:
            if setting.wants(row.name):
                for seed in self._seeds(row):
                    for test in setting.collection.tests:
                        self._add(row, seed, test)

    def check(self) -> None:
        """Raise an error if a row names a model or recipe that is not installed, or rows to fuse that are not there."""
        for row in self.experiment.variants:
            if row.recipe:
                RECIPES[row.recipe].check(self._trained(row, 0).settings)
            elif row.model:
                model_folder(row.model)
            for name in row.fused:
                if not any(each.row == name for each in self.measured):
                    raise MathAMRError(f"the row {row.name} fuses {name!r}, which is not run before it")

    def _seeds(self, row: SystemRow) -> list[int]:
        return list(range(self.setting.seeds)) if row.seed else [NO_SEED]

    def _trained(self, row: SystemRow, seed: int) -> TrainedModel:
        seeded = (f"{row.seed}={seed}",) if row.seed else ()
        config = row.config or next(iter(RECIPES[row.recipe].configurations))
        return TrainedModel(row.recipe, config, (*row.changes, *self.setting.changes, *seeded))

    def _add(self, row: SystemRow, seed: int, test: TestSet) -> None:
        judged = JudgedTest(test.name, self.experiment.measures, lambda: test.qrels, test.digest)
        path = self.setting.out / "runs" / test.name / f"{row.name}{f'-{seed}' if row.seed else ''}.run"
        if row.fused:
            parts = [self._part(name, test, seed) for name in row.fused]
            inputs = {"fusion": row.fusion, "rows": row.fused}
            needs = [part.stage for part in parts]
            self.measure(row.name, seed, judged, path, inputs, needs, partial(self._fuse, row, parts))
            return
        train = self._train(row, seed) if row.recipe else None
        model = self._model(row, seed)
        index = self._index(row, seed, model, train)
        self.measure(
            row.name,
            seed,
            judged,
            path,
            {"strategy": str(row.strategy)},
            (index,),
            self._search(row, index, test, model),
            train=train,
        )

    def _part(self, name: str, test: TestSet, seed: int) -> MeasuredRun:
        """Return the run of a row with a seed, or the one that it has without."""
        runs = [each for each in self.measured if (each.row, each.test.name) == (name, test.name)]
        if not runs:
            raise MathAMRError(
                f"no row {name!r} is run before the row that fuses it; order the rows so, and run both with --only"
            )
        return next((each for each in runs if each.seed == seed), runs[0])

    def _model(self, row: SystemRow, seed: int) -> Path | str:
        if row.recipe:
            return self.setting.out / "models" / self._trained(row, seed).name / MODEL
        return row.model

    def _train(self, row: SystemRow, seed: int) -> Stage:
        trained, collection = self._trained(row, seed), self.setting.collection
        folder = self.setting.out / "models" / trained.name

        def work() -> Figures:
            without = folder / "without.txt"
            folder.mkdir(parents=True, exist_ok=True)
            without.write_text("".join(f"{each}\n" for each in sorted(collection.without)), encoding="utf-8")
            excluded = (without,) if "without" in RECIPES[row.recipe].reads else ()
            sources = TrainingSources(path=collection.paths[0], without=excluded)
            return train_system(row.recipe, sources, trained.settings, folder, self.setting.device)

        inputs = {"posts": collection.digest, "without": sorted(collection.without), "model": trained.name}
        return self.stages.add(
            Stage("train", f"train {trained.name}", folder / "train.done.json", inputs, (), work)
        )

    def _index(self, row: SystemRow, seed: int, model: Path | str, train: Stage | None) -> Stage:
        name = self._trained(row, seed).name if row.recipe else row.model.replace("/", "_")
        folder, setting = self.setting.out / "indexes" / name, self.setting

        def work() -> Figures:
            made = index_posts(setting, folder, model)
            return {"posts a second": made.posts_per_second, "memory": made.memory, "bytes": made.sizes}

        inputs = {"posts": setting.collection.digest, "parser": setting.parser}
        if train is None:
            inputs["model"] = file_hash(model_folder(row.model) / CONFIG)
        needs = () if train is None else (train,)
        mark = self.setting.out / "indexes" / f"{name}.done.json"
        return self.stages.add(Stage("index", f"index {name}", mark, inputs, needs, work))

    def _search(self, row: SystemRow, index: Stage, test: TestSet, model: Path | str) -> Search:
        folder = index.mark_path.with_name(index.mark_path.name.removesuffix(".done.json"))

        def search() -> tuple[Run, Figures]:
            kind = system_of(model_folder(model))
            if test.task not in kind.tasks:
                raise NotApplicableError(f"{kind.kind} does not rank {test.task}")
            strategies = {row.name: row.strategy}
            (found,) = search_index(folder, test.topics, test.task, strategies, test.depth)
            return found, {}

        return search

    def _fuse(self, row: SystemRow, parts: list[MeasuredRun]) -> tuple[Run, Figures]:
        if not all(part.path.exists() for part in parts):
            raise NotApplicableError("a row that it fuses does not rank this task")
        return fuse_runs([read_run(part.path) for part in parts], row.fusion, name=row.name), {}

    def tables(self) -> Iterator[tuple[str, str]]:
        """Yield a table for each test set."""
        for test in self.setting.collection.tests:
            rows = [
                MeasuredRow(row.name, self.scores(row.name, test.name), row.published)
                for row in self.experiment.variants
            ]
            if any(row.seeds for row in rows):
                lines = comparison_table(
                    rows, self.experiment.measures, baselines=self.experiment.baselines, list_tests=True
                )
                yield test.name, "\n".join(lines)
