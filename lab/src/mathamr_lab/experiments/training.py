"""The training stage: a process of its own per model, so that memory is measured per model."""

from __future__ import annotations

import sys
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.core.tensorfile import read_arrays
from mathamr.systems.mathamrplus.graphfolder import read_graph_folder
from mathamr_lab.experiments.child import run_child
from mathamr_lab.experiments.stage import Figures
from mathamr_lab.recipes.prepared import prepare
from mathamr_lab.recipes.recipe import MODEL, PREPARED, TrainingSettings, TrainingSources
from mathamr_lab.training.checkpoint import CHECKPOINT, TrainingProgress, read_progress

LOG = "training.log"


def train_system(
    system: str, source: Path, settings: TrainingSettings, folder: Path, stage: str, device: str
) -> TrainingProgress:
    """Train a system into a folder and return the progress of one of its stages.

    It continues from a checkpoint of the same training; one of other settings or sources is ignored.
    """
    kept = prepare(system, TrainingSources(path=source), settings, folder / PREPARED)
    command = [sys.executable, "-m", "mathamr_lab.recipes", str(folder / PREPARED), "--out", str(folder)]
    command += ["--device", device, "--threads", "2", *([] if kept else ["--fresh"])]
    run_child(f"training {folder.name}", command, folder, LOG)
    _, progress = read_progress(folder / stage / CHECKPOINT)
    if not progress.done:
        raise MathAMRError(
            f"training in {folder} was stopped; run the same command to continue from its last checkpoint"
        )
    return progress


def train_graphs(shard: Path, settings: TrainingSettings, folder: Path, device: str) -> Figures:
    """Train a graph network and return its curve and costs."""
    progress = train_system("mathamrplus", shard, settings, folder, "graph", device)
    model, history = read_graph_folder(folder / MODEL), progress.history
    return {
        "output": model.fingerprint,
        "epochs": len(history),
        "best epoch": progress.best_epoch,
        "seconds an epoch": sum(row["training_seconds"] for row in history) / len(history),
        "memory": max(row["memory"] for row in history),
        "parameters": sum(array.size for array in read_arrays(model.weights).values()),
        "history": [
            {
                "step": row["step"],
                "loss": row["loss"],
                "validation": row["validation"] and row["validation"]["loss"],
            }
            for row in history
        ],
    }
