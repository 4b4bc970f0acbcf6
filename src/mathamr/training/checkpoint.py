"""Checkpoints: all that a run needs to go on as if it had never stopped, in one safetensors file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from torch import Tensor

from mathamr.errors import MathAMRError
from mathamr.layers.weights import read_safetensors

FORMAT = "1"


@dataclass(slots=True)
class Standing:
    """How far a run has come: `epoch` and `step` are the next ones to do.

    `loss_sum` is that of the running epoch, `marked` what it was at the last point of the `curve`, which lists (step,
    loss); `history` has one row an epoch.
    """

    epoch: int = 0
    step: int = 0
    loss_sum: float = 0.0
    marked: float = 0.0
    seconds: float = 0.0
    best: float | None = None
    best_epoch: int = 0
    waited: int = 0
    done: bool = False
    curve: list[tuple[int, float]] = field(default_factory=list)
    history: list[dict[str, Any]] = field(default_factory=list)


def save_checkpoint(path: Path, state: dict[str, Tensor], standing: Standing, run: dict[str, Any]) -> None:
    """Writes a checkpoint in one move: a kill leaves the one before. `run` says which run it belongs to."""
    from safetensors.torch import save

    temporary = path.with_name(path.name + ".new")
    head = {
        "format": FORMAT,
        "standing": json.dumps(asdict(standing)),
        "run": json.dumps(run, sort_keys=True),
    }
    try:
        temporary.write_bytes(save({name: tensor.cpu() for name, tensor in state.items()}, metadata=head))
        temporary.replace(path)
    except OSError as error:
        raise MathAMRError(f"cannot write the checkpoint {path}: {error}") from error


def load_checkpoint(path: Path, run: dict[str, Any]) -> tuple[dict[str, Tensor], Standing]:
    """The state and standing of a checkpoint of this very run; one of another run is refused."""
    from safetensors import SafetensorError, safe_open

    state = read_safetensors(path)
    try:
        with safe_open(path, "pt") as file:
            head: dict[str, str] = file.metadata() or {}
        if head.get("format") != FORMAT:
            raise MathAMRError(f"{path} is no checkpoint of this version; train in another folder")
        before: dict[str, Any] = json.loads(head["run"])
        standing = Standing(**json.loads(head["standing"]))
        standing.curve = [(int(step), float(loss)) for step, loss in standing.curve]
    except (OSError, SafetensorError, ValueError, KeyError, TypeError) as error:
        raise MathAMRError(f"{path} is no checkpoint, or it is damaged: {error}") from error
    now: dict[str, Any] = json.loads(json.dumps(run))
    differing = sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
    if differing:
        raise MathAMRError(
            f"{path} belongs to another run: other {', '.join(differing)}; choose another folder, or start afresh"
        )
    return state, standing
