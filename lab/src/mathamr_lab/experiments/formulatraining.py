"""`FormulaModel`: one model of an experiment, trained and made to score collections once, here or in a process of its own."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.core.device import chosen_device
from mathamr.systems.models import load_system
from mathamr_lab.experiments.child import as_child, run_child
from mathamr_lab.experiments.formulacollection import FormulaCollection
from mathamr_lab.experiments.formulascores import collection_scores
from mathamr_lab.recipes.formularecipe import FormulaRecipe
from mathamr_lab.recipes.prepared import prepare, train_prepared
from mathamr_lab.recipes.recipe import RECIPES, TrainingSettings, TrainingSources
from mathamr_lab.training.resources import Resources

LOG = "training.log"
THREADS = 2
"""Threads that make batches ahead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormulaModel:
    """What is trained on which formulas, into which folder; without a `config` the model in the box is taken as it is."""

    system: str
    config: str
    changes: tuple[str, ...]
    formulas: Path
    models: Path
    device: str = "auto"

    @property
    def name(self) -> str:
        """Says what is trained, and with which seed."""
        if not self.config:
            return f"{self.system}-in-the-box"
        return "-".join([self.system, self.config, *(each.split(".", 1)[1] for each in self.changes)])

    @property
    def folder(self) -> Path:
        """Where everything of it is kept."""
        return self.models / self.name.replace("/", "_")

    @property
    def is_taught(self) -> bool:
        """Whether it learns the orders of a teacher, which all models share."""
        recipe = RECIPES[self.system] if self.config else None
        return isinstance(recipe, FormulaRecipe) and recipe.is_taught(self._settings)

    @property
    def _settings(self) -> TrainingSettings:
        return TrainingSettings(config=self.config, changes=self.changes)

    @property
    def is_trained(self) -> bool:
        """Whether there is nothing left to train."""
        return not self.config or self._done.exists()

    @property
    def _done(self) -> Path:
        return self.folder / "done"

    def is_done(self, collections: Sequence[FormulaCollection]) -> bool:
        """Whether all collections are scored."""
        return all(self._path(collection).exists() for collection in collections)

    def scores(self, collection: FormulaCollection) -> Mapping[str, FloatArray]:
        """By field what every candidate is worth to every topic; trains first, unless that was done."""
        path = self._path(collection)
        if not path.exists():
            found = collection_scores(load_system(self._trained(), self.device), collection)
            self.folder.mkdir(parents=True, exist_ok=True)
            partial = path.with_suffix(".part.npz")
            np.savez(partial, allow_pickle=False, **found)
            partial.replace(path)
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}

    def score_apart(self, collections: Sequence[Path], threads: int) -> None:
        """The same in another process, for collections in files."""
        row = {**asdict(self), "formulas": str(self.formulas), "models": str(self.models)}
        given = json.dumps([row, [str(path) for path in collections]]).encode()
        command = [sys.executable, "-m", "mathamr_lab.experiments.formulatraining"]
        run_child(self.name, command, self.folder, LOG, threads, given)

    def _path(self, collection: FormulaCollection) -> Path:
        return self.folder / f"scores-{slug(collection.name)}.npz"

    def _trained(self) -> Path | str:
        """The folder or the name of the model."""
        if not self.config:
            return self.system
        out = self.folder
        if not self.is_trained:
            print(f"training {self.name}", file=sys.stderr, flush=True)
            prepare(self.system, TrainingSources(path=self.formulas), self._settings, out / "prepared")
            resources = Resources(device=chosen_device(self.device), threads=THREADS)
            for _ in train_prepared(out / "prepared", out, resources):
                pass
            self._done.touch()
        return out / "model"


def slug(name: str) -> str:
    """A name as a part of a file's name."""
    return "".join(letter if letter.isalnum() else "-" for letter in name.lower())


def _asked(given: tuple[dict[str, Any], list[str]]) -> None:
    row, collections = given
    paths = {"formulas": Path(row["formulas"]), "models": Path(row["models"])}
    model = FormulaModel(**{**row, **paths, "changes": tuple(row["changes"])})
    for path in collections:
        model.scores(FormulaCollection.load(Path(path)))


if __name__ == "__main__":
    sys.exit(as_child(_asked))
