"""`FormulaSystem`: what formula graphs and SSEmb share: a network over the trees of formulas, its labels and its folder."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import torch
from torch import nn

from mathamr.core.device import chosen_device
from mathamr.core.modelfolder import WEIGHTS, ModelFolder, write_model_folder
from mathamr.core.tensorfile import halved, read_tensors, tensor_bytes, use_weights
from mathamr.core.unfilled import unfilled
from mathamr.graphs.formulashard import FormulaLabels
from mathamr.systems.formulafolder import LABELS, read_formula_folder
from mathamr.systems.ranking import Task
from mathamr.systems.system import System

Network = TypeVar("Network", bound=nn.Module)


class FormulaSystem(System, Generic[Network]):
    """A network and the labels that it knows; a folder stores the weights in sixteen bits and one label per line."""

    tasks: ClassVar[frozenset[Task]] = frozenset({"formulas"})

    def __init__(
        self,
        network: Network,
        labels: FormulaLabels,
        *,
        name: str = "",
        about: dict[str, Any] | None = None,
        device: torch.device | None = None,
    ) -> None:
        self.network, self.labels, self.about = network, labels, about or {}
        self.name = name or self.kind
        self._device = device or next(network.parameters()).device

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the weights and labels."""
        config = self.config
        more = {name: value for name, value in config.items() if name not in ("system", "name", "model")}
        content = hashlib.sha256(tensor_bytes(halved(self.network.state_dict())))
        content.update("\n".join(self.labels.labels).encode())
        content.update(json.dumps([config["system"], config["model"], more], sort_keys=True).encode())
        return content.hexdigest()[:16]

    @property
    def config(self) -> dict[str, Any]:
        """What the folder's configuration says of the system; `load` reads it."""
        shape: Any = self.network.configuration
        return {"system": self.kind, "name": self.name, "model": shape.to_json()}

    @staticmethod
    def made_network(model: dict[str, Any], labels: FormulaLabels) -> Network:
        """Return a network of the shape that a configuration describes."""
        raise NotImplementedError

    @classmethod
    def read_more(cls, folder: ModelFolder) -> dict[str, Any]:  # noqa: ARG003
        """Return further arguments of the constructor from a folder; by default none."""
        return {}

    def save(self, folder: Path) -> None:
        """Write the model folder."""
        weights = tensor_bytes(halved(self.network.state_dict()))
        files = {WEIGHTS: weights, LABELS: self.labels.to_text().encode()}
        write_model_folder(folder, self.config, files, self.about)

    @classmethod
    def load(cls, folder: Path, device: str = "auto") -> Self:
        """Load the system from a folder."""
        read, labels = read_formula_folder(folder, cls.kind)
        with read.parsing():
            name, model = str(read.config["name"]), dict(read.config["model"])
            more = cls.read_more(read)
        with unfilled():
            network = cls.made_network(model, labels)
        use_weights(network, read_tensors(folder / WEIGHTS), folder / WEIGHTS)
        place = chosen_device(device)
        system = cls(network.to(place), labels, name=name, device=place, **more)
        system.about = read.about(*system.config)
        return system
