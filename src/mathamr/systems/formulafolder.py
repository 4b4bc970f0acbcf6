"""Model folders of systems that read formulas alone: weights in sixteen bits, labels as text, nothing that can run code.

config.json           which system, its name, its configuration, hashes of the other files
weights.safetensors   the parameters
labels.txt            one label of a node a line
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from mathamr.core.errors import MathAMRError
from mathamr.core.integrity import file_hash
from mathamr.core.tensorfile import read_tensors, tensor_bytes, use_weights
from mathamr.graphs.formulashard import FormulaLabels
from mathamr.systems.formulahead import FORMAT, LABELS, FormulaModelHead
from mathamr.systems.weights import CONFIG, WEIGHTS


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


def read_network(folder: Path, network: nn.Module) -> None:
    """Puts the weights of a folder into a network of the right shape."""
    use_weights(network, read_tensors(folder / WEIGHTS), folder / WEIGHTS)


def _half(tensor: Tensor) -> Tensor:
    return tensor.detach().to("cpu", torch.float16)
