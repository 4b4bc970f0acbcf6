"""Checkpoints: everything that a run needs to continue as if it had never stopped, in one safetensors file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mathamr.core.errors import MathAMRError
from mathamr.core.tensorfile import read_metadata, read_tensors, tensor_bytes

CHECKPOINT = "checkpoint.safetensors"
FORMAT = "3"


@dataclass(slots=True, kw_only=True)
class TrainingProgress:
    """The progress of a run: `epoch` and `step` are the next ones to do.

    `loss_sum` is that of the current epoch; `history` has one row per epoch. `best` is the score of the best epoch, `waited`
    counts the epochs since. `before` is the validation before training, for a pretrained network.
    """

    epoch: int = 0
    step: int = 0
    loss_sum: float = 0.0
    seconds: float = 0.0
    best: float | None = None
    best_epoch: int = 0
    waited: int = 0
    done: bool = False
    before: dict[str, Any] | None = None
    history: list[dict[str, Any]] = field(default_factory=list)


def save_checkpoint(
    path: Path, state: dict[str, Tensor], progress: TrainingProgress, identity: dict[str, Any]
) -> None:
    """Write a checkpoint atomically: a kill leaves the previous one. `identity` says which run it belongs to."""
    temporary = path.with_name(path.name + ".new")
    head = {
        "format": FORMAT,
        "progress": json.dumps(asdict(progress)),
        "identity": json.dumps(identity, sort_keys=True),
    }
    try:
        temporary.write_bytes(tensor_bytes(state, head))
        temporary.replace(path)
    except OSError as error:
        raise MathAMRError(f"cannot write the checkpoint {path}: {error}") from error


def load_checkpoint(path: Path, identity: dict[str, Any]) -> tuple[dict[str, Tensor], TrainingProgress]:
    """Read the state and progress of a checkpoint of this run; one of another run is refused."""
    state = read_tensors(path)
    before, progress = read_progress(path)
    now: dict[str, Any] = json.loads(json.dumps(identity))
    differing = sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
    if differing:
        raise MathAMRError(
            f"{path} belongs to another run: other {', '.join(differing)}; choose another folder, or delete it"
        )
    return state, progress


def read_progress(path: Path) -> tuple[dict[str, Any], TrainingProgress]:
    """Read (identity, progress) of a checkpoint, without its tensors."""
    head = read_metadata(path)
    if head.get("format") != FORMAT:
        raise MathAMRError(
            f"{path} is not a checkpoint of this version; train in another folder, or delete it"
        )
    try:
        identity = dict(json.loads(head["identity"]))
        progress = TrainingProgress(**json.loads(head["progress"]))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise MathAMRError(f"{path} is not a checkpoint, or it is damaged: {error}") from error
    return identity, progress


def random_states(device: torch.device) -> dict[str, Tensor]:
    """Return the states of torch's random numbers, of the processor and of the device."""
    states = {"random.cpu": torch.get_rng_state()}
    return states | ({"random.cuda": torch.cuda.get_rng_state(device)} if device.type == "cuda" else {})


def use_random_states(states: Mapping[str, Tensor], device: torch.device) -> None:
    """Restore the states of random numbers that `random_states` returned."""
    torch.set_rng_state(states["random.cpu"].cpu())
    if device.type == "cuda" and "random.cuda" in states:
        torch.cuda.set_rng_state(states["random.cuda"].cpu(), device)
