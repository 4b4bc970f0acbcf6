"""Model folders of systems that read formulas alone: weights in sixteen bits, labels as text, nothing that can run code.

config.json           which system, its name, its configuration, hashes of the other files
weights.safetensors   the parameters
labels.txt            one label of a node a line
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from mathamr.errors import MathAMRError
from mathamr.graphs.formulashard import FormulaLabels
from mathamr.integrity import checked_file, file_hash
from mathamr.layers.tensorfile import read_tensors, tensor_bytes
from mathamr.layers.weights import CONFIG, WEIGHTS, use_weights

FORMAT = 1
LABELS = "labels.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class FormulaModelHead:
    """What a folder says about itself; `about` is for people, `extra` belongs to the system."""

    system: str
    name: str
    model: dict[str, Any]
    extra: dict[str, Any] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)


def stored_bytes(network: nn.Module) -> bytes:
    """The weights of a network as they are stored: sixteen bits a number."""
    return tensor_bytes({name: _half(tensor).contiguous() for name, tensor in network.state_dict().items()})


def fingerprint(head: FormulaModelHead, network: nn.Module, labels: FormulaLabels) -> str:
    """A name for exactly this model: equal ones give equal vectors."""
    content = hashlib.sha256(stored_bytes(network))
    content.update("\n".join(labels.labels).encode())
    content.update(json.dumps([head.system, head.model, head.extra], sort_keys=True).encode())
    return content.hexdigest()[:16]


def save_formula_model(
    folder: Path, head: FormulaModelHead, network: nn.Module, labels: FormulaLabels
) -> None:
    """Writes the folder; the configuration comes last, when all is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / f"{WEIGHTS}.new"
        temporary.write_bytes(stored_bytes(network))
        temporary.replace(folder / WEIGHTS)
        labels.save(folder / LABELS)
        row: Mapping[str, Any] = {
            "format": FORMAT,
            "system": head.system,
            "name": head.name,
            "model": head.model,
            **head.extra,
            "sha256": {name: file_hash(folder / name) for name in (WEIGHTS, LABELS)},
            **head.about,
        }
        temporary = folder / f"{CONFIG}.new"
        temporary.write_text(json.dumps(row, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        temporary.replace(folder / CONFIG)
    except OSError as error:
        raise MathAMRError(f"cannot write the model folder {folder}: {error}") from error


def read_formula_head(folder: Path, system: str, extra: tuple[str, ...] = ()) -> FormulaModelHead:
    """What a folder of this system says about itself, after the hashes of its files were checked."""
    path = folder / CONFIG
    try:
        row = dict(json.loads(path.read_text(encoding="utf-8")))
        if row["format"] != FORMAT:
            raise MathAMRError(f"{path} has format {row['format']}, this version reads {FORMAT}")
        if row["system"] != system:
            raise MathAMRError(f"{folder} holds a model of the system {row['system']!r}, not {system!r}")
        hashes = {str(name): str(value) for name, value in row["sha256"].items()}
        known = {"format", "system", "name", "model", "sha256", *extra}
        head = FormulaModelHead(
            system=system,
            name=str(row["name"]),
            model=dict(row["model"]),
            extra={name: row[name] for name in extra},
            about={name: value for name, value in row.items() if name not in known},
            hashes=hashes,
        )
    except FileNotFoundError as error:
        raise MathAMRError(f"no model in {folder}: it has no {CONFIG}") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise MathAMRError(
            f"{path} does not describe a model, or it is damaged ({type(error).__name__}: {error})"
        ) from error
    for name in (WEIGHTS, LABELS):
        checked_file(folder / name, hashes)
    return head


def read_network(folder: Path, network: nn.Module) -> None:
    """Puts the weights of a folder into a network of the right shape."""
    use_weights(network, read_tensors(folder / WEIGHTS), folder / WEIGHTS)


def _half(tensor: Tensor) -> Tensor:
    return tensor.detach().to("cpu", torch.float16)
