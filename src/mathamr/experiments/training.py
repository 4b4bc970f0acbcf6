"""The stage that trains: one process a model, so that its memory is its own and several can learn at a time."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mathamr.errors import MathAMRError
from mathamr.experiments.child import run_child
from mathamr.experiments.stage import Figures
from mathamr.layers.weights import read_head, read_weights
from mathamr.training.checkpoint import Standing

LOG, CHECKPOINT = "training.log", "checkpoint.safetensors"


def train_model(
    shard: Path, folder: Path, config: str, settings: Sequence[str], device: str, threads: int
) -> Figures:
    """Trains a model into a folder and tells its curve and costs; goes on from a checkpoint of the same run."""
    command = [sys.executable, "-m", "mathamr.training", str(shard), "--out", str(folder), "--config", config]
    for setting in settings:
        command += ["--set", setting]
    command += ["--device", device, "--threads", "1"]
    if not _belongs(folder / CHECKPOINT, config, settings):
        command.append("--fresh")
    run_child("training", command, folder, LOG, threads)
    standing = _standing(folder / CHECKPOINT)
    if standing is None or not standing.done:
        raise MathAMRError(
            f"training in {folder} was stopped; the same command goes on from its last checkpoint"
        )
    head = read_head(folder)
    figures: Figures = {
        "output": head.fingerprint,
        "epochs": len(standing.history),
        "best epoch": standing.best_epoch,
        "seconds an epoch": _mean([row["training_seconds"] for row in standing.history]),
        "memory": max(row["memory"] for row in standing.history),
        "parameters": sum(tensor.numel() for tensor in read_weights(folder, head).values()),
        "history": [
            {
                "step": row["step"],
                "loss": row["loss"],
                "validation": row["validation"] and row["validation"]["loss"],
            }
            for row in standing.history
        ],
        "curve": standing.curve,
    }
    (folder / CHECKPOINT).unlink()
    return figures


def _belongs(path: Path, config: str, settings: Sequence[str]) -> bool:
    """Whether a checkpoint is of this configuration: one of another is no reason to stop."""
    from mathamr.training.command import configured

    run = json.loads(_metadata(path).get("run", "{}"))
    model, training = configured(config, settings)
    return bool(
        run.get("model") == json.loads(json.dumps(model.to_json()))
        and run.get("training") == json.loads(json.dumps(training.to_json()))
    )


def _standing(path: Path) -> Standing | None:
    row = _metadata(path).get("standing")
    return None if row is None else Standing(**json.loads(row))


def _metadata(path: Path) -> dict[str, Any]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "pt") as file:
            return file.metadata() or {}
    except (OSError, SafetensorError):
        return {}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
