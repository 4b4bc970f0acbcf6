"""The training stage: a process of its own per model, so that memory is measured per model."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.core.tensorfile import read_arrays
from mathamr_lab.experiments.child import run_child
from mathamr_lab.experiments.stage import Figures
from mathamr_lab.recipes.prepared import prepare
from mathamr_lab.recipes.recipe import MODEL, PREPARED, RECIPES, TrainingSettings, TrainingSources
from mathamr_lab.training.checkpoint import CHECKPOINT, TrainingProgress, read_progress
from mathamr_lab.training.plain import LEARNED

LOG = "training.log"
LONGEST = 150
"""The characters of a model's name that are written in full."""


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """A model to train: the system, its named configuration, and what is changed."""

    system: str
    config: str
    changes: tuple[str, ...]

    @property
    def name(self) -> str:
        """A name from what is trained and its seed, as long as a file's name may be."""
        stages = {each.partition(".")[0] for each in self.changes}
        changes = [each.partition(".")[2] if len(stages) == 1 else each for each in self.changes]
        name = "-".join([self.system, self.config, *changes]).replace("/", "_")
        return name if len(name) < LONGEST else name[:LONGEST] + sha256(name.encode()).hexdigest()[:12]

    @property
    def settings(self) -> TrainingSettings:
        """The settings of the recipe."""
        return TrainingSettings(config=self.config, changes=self.changes)


def split_base(changes: Sequence[str]) -> tuple[tuple[str, ...], Path | None]:
    """Return the changes without a `model.base` that is a folder, and that folder: a published encoder is converted for a training."""
    named = {change for change in changes if change.startswith("model.base=")}
    folders = {change: Path(change.partition("=")[2]) for change in named}
    base = next((path for path in folders.values() if path.is_dir()), None)
    kept = tuple(change for change in changes if base is None or folders.get(change) != base)
    return kept, base


def train_system(
    system: str, sources: TrainingSources, settings: TrainingSettings, folder: Path, device: str
) -> Figures:
    """Train a system into a folder and return the figures of its stages.

    It continues from a checkpoint of the same training; one of other settings or sources is ignored.
    """
    kept = prepare(system, sources, settings, folder / PREPARED)
    command = [sys.executable, "-m", "mathamr_lab.recipes", str(folder / PREPARED), "--out", str(folder)]
    command += ["--device", device, "--threads", "2", *([] if kept else ["--fresh"])]
    run_child(f"training {folder.name}", command, folder, LOG)
    stages = {}
    for stage in RECIPES[system].planned(settings):
        if (folder / stage / CHECKPOINT).exists():
            _, progress = read_progress(folder / stage / CHECKPOINT)
            if not progress.done:
                raise MathAMRError(
                    f"training in {folder} was stopped; run the same command to continue from its last checkpoint"
                )
            stages[stage] = _figures(progress)
    # Without its last stage a training has no model yet.
    weights = sorted((folder / MODEL).rglob("*.safetensors")) or sorted(folder.glob(f"*/{LEARNED}"))
    written = weights or sorted(path for path in (folder / MODEL).rglob("*") if path.is_file())
    return {
        "output": sha256(b"".join(path.read_bytes() for path in written)).hexdigest(),
        "parameters": sum(array.size for path in weights for array in read_arrays(path).values()),
        "stages": stages,
    }


def _figures(progress: TrainingProgress) -> Figures:
    history = progress.history
    return {
        "steps": history[-1]["step"],
        "losses": [row["loss"] for row in history],
        "best epoch": progress.best_epoch,
        "seconds an epoch": sum(row["training_seconds"] for row in history) / len(history),
        "memory": max(row["memory"] for row in history),
    }
