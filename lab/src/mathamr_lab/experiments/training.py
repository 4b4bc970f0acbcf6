"""The training stage: a process of its own per model, so that memory is measured per model."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mathamr.core.errors import MathAMRError
from mathamr.core.tensorfile import read_arrays
from mathamr.systems.mathamrplus.graphfolder import read_graph_folder
from mathamr_lab.experiments.child import run_child
from mathamr_lab.experiments.stage import Figures
from mathamr_lab.training.checkpoint import CHECKPOINT, TrainingProgress, read_progress

LOG = "training.log"


def train_model(shard: Path, folder: Path, config: str, settings: Sequence[str], device: str) -> Figures:
    """Train a model into a folder and return its curve and costs; it continues from a checkpoint of the same run."""
    command = [sys.executable, "-m", "mathamr_lab.recipes", str(shard), "--out", str(folder)]
    command += ["--config", config]
    for setting in settings:
        command += ["--set", setting]
    command += ["--device", device, "--threads", "1"]
    if not _belongs(folder / CHECKPOINT, config, settings):
        command.append("--fresh")
    run_child("training", command, folder, LOG)
    _, progress = _checkpoint(folder / CHECKPOINT)
    if not progress.done:
        raise MathAMRError(
            f"training in {folder} was stopped; run the same command to continue from its last checkpoint"
        )
    model = read_graph_folder(folder)
    figures: Figures = {
        "output": model.fingerprint,
        "epochs": len(progress.history),
        "best epoch": progress.best_epoch,
        "seconds an epoch": _mean([row["training_seconds"] for row in progress.history]),
        "memory": max(row["memory"] for row in progress.history),
        "parameters": sum(array.size for array in read_arrays(model.weights).values()),
        "history": [
            {
                "step": row["step"],
                "loss": row["loss"],
                "validation": row["validation"] and row["validation"]["loss"],
            }
            for row in progress.history
        ],
    }
    (folder / CHECKPOINT).unlink()
    return figures


def _belongs(path: Path, config: str, settings: Sequence[str]) -> bool:
    """Return True if a checkpoint has this configuration; one of another configuration is ignored."""
    from mathamr_lab.systems.mathamrplus.graph.configuration import configured

    run, _ = _checkpoint(path)
    model, training = configured(config, settings)
    return bool(
        run.get("model") == json.loads(json.dumps(model.to_json()))
        and run.get("training") == json.loads(json.dumps(training.to_json()))
    )


def _checkpoint(path: Path) -> tuple[dict[str, Any], TrainingProgress]:
    """Read (identity, progress) of a checkpoint; if there is none, those of a run that has not begun."""
    try:
        return read_progress(path)
    except MathAMRError:
        return {}, TrainingProgress()


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
