"""Folders of systems that read only formulas: weights in sixteen bits, and `labels.txt` with one node label per line.

Nothing here imports torch, so that a model can be read with numpy alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mathamr.core.errors import MathAMRError
from mathamr.core.modelfolder import WEIGHTS, ModelFolder, write_model_folder
from mathamr.core.tensorfile import halved, read_tensors, tensor_bytes, use_weights
from mathamr.graphs.formulashard import FormulaLabels

if TYPE_CHECKING:
    from torch import nn

LABELS = "labels.txt"


def read_formula_folder(path: Path, system: str) -> tuple[ModelFolder, FormulaLabels]:
    """Read the folder of a model of this system and its labels, after checking the hashes of all files."""
    folder = ModelFolder.read(path)
    with folder.parsing():
        found = folder.config["system"]
    if found != system:
        raise MathAMRError(f"{path} holds a model of the system {found!r}, not {system!r}")
    folder.file(WEIGHTS)
    return folder, FormulaLabels.load(folder.file(LABELS))


def read_network(folder: ModelFolder, network: nn.Module) -> None:
    """Load the weights of a folder into a network of the same shape."""
    use_weights(network, read_tensors(folder.path / WEIGHTS), folder.path / WEIGHTS)


def formula_fingerprint(config: Mapping[str, Any], network: nn.Module, labels: FormulaLabels) -> str:
    """Identify exactly this model: models with equal fingerprints give equal vectors."""
    more = {name: value for name, value in config.items() if name not in ("system", "name", "model")}
    content = hashlib.sha256(tensor_bytes(halved(network.state_dict())))
    content.update("\n".join(labels.labels).encode())
    content.update(json.dumps([config["system"], config["model"], more], sort_keys=True).encode())
    return content.hexdigest()[:16]


def save_formula_model(
    path: Path, config: Mapping[str, Any], network: nn.Module, labels: FormulaLabels, about: Mapping[str, Any]
) -> None:
    """Write the folder."""
    files = {WEIGHTS: tensor_bytes(halved(network.state_dict())), LABELS: labels.to_text().encode()}
    write_model_folder(path, config, files, about)
