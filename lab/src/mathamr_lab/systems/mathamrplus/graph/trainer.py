"""`GraphTrainer`: the graph network learns from pairs of graphs."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mathamr.core.arrays import IntArray
from mathamr.graphs.shard import Shard
from mathamr.systems.layers.batch import GraphBatch
from mathamr.systems.mathamrplus.configuration import ModelConfiguration
from mathamr.systems.mathamrplus.graphfolder import save_graph_folder
from mathamr.systems.mathamrplus.network import MathAMRPlus
from mathamr_lab.systems.mathamrplus.graph.configuration import GraphTraining
from mathamr_lab.systems.mathamrplus.graph.pairs import GraphPairs
from mathamr_lab.systems.mathamrplus.graph.validation import MEASURED, validate
from mathamr_lab.training.contrastive import ContrastiveStep, ContrastiveTrainer
from mathamr_lab.training.losses import ContrastiveLoss
from mathamr_lab.training.optimiser import Optimiser, ParameterGroup, Schedule
from mathamr_lab.training.pairs import batches
from mathamr_lab.training.settings import autocast
from mathamr_lab.training.trainer import Validation


class GraphTrainer(ContrastiveTrainer[GraphBatch]):
    """Trains a new MathAMR+ network; with `half`, its weights are stored in sixteen bits."""

    unit = "pairs"
    pretrained = False
    measured = MEASURED

    def __init__(
        self,
        shard: Shard,
        model: ModelConfiguration,
        configuration: GraphTraining,
        device: torch.device,
        *,
        half: bool = False,
    ) -> None:
        self.shard, self.configuration, self.device, self.half = shard, configuration, device, half
        self.epochs, self.patience = configuration.epochs, configuration.patience
        self.examples = configuration.batch_size
        self.pairs = GraphPairs(shard, configuration)
        self.steps = len(self.plan(0))
        torch.manual_seed(configuration.seed)
        self.network = MathAMRPlus(model, len(shard.vocabulary), len(shard.relations)).to(device)
        self.model, self.size = self.network, model.projection
        self.loss = ContrastiveLoss(configuration.temperature, configuration.beta).to(device)
        groups = [
            ParameterGroup(
                parameters={f"{part}.{name}": each for name, each in module.named_parameters()},
                rate=configuration.learning_rate,
                minimum_rate=configuration.minimum_rate,
                weight_decay=decay,
            )
            for part, module, decay in (
                ("model", self.network, configuration.weight_decay),
                ("loss", self.loss, 0.0),
            )
        ]
        schedule = Schedule(self.steps * configuration.epochs, configuration.warmup)
        self.optimiser = Optimiser(groups, schedule, clip=configuration.clip, fused=True)

    def encode(self, part: GraphBatch) -> Tensor:
        """Return the vectors of some graphs."""
        with autocast(self.configuration.precision, self.device):
            vectors: Tensor = self.network(part.to(self.device))
        return vectors

    def identity(self) -> dict[str, Any]:
        """Return what identifies the run."""
        return {
            "model": self.network.configuration.to_json(),
            "training": self.configuration.to_json(),
            "materials": _checksum(self.shard),
        }

    def plan(self, epoch: int) -> list[IntArray]:
        """Return the shuffled places of training pairs."""
        configuration = self.configuration
        return batches(len(self.pairs.train), configuration.batch_size, configuration.seed, epoch)

    def step(self, batch: IntArray, epoch: int) -> ContrastiveStep[GraphBatch]:
        """Return the augmented graphs of a batch."""
        return self.pairs.step(self.pairs.train[batch], batch, epoch, self.device)

    def validate(self) -> Validation | None:
        """Return the loss of the validation pairs, and how well questions find their answers."""
        return validate(self, self.pairs)

    def save(self, folder: Path, about: dict[str, Any]) -> None:
        """Write a model folder of the graph network."""
        shard = self.shard
        about = {"training": self.configuration.to_json(), "pairs": len(self.pairs.train), **about}
        save_graph_folder(
            folder,
            self.network.configuration,
            self.network.state_dict(),
            shard.configuration,
            shard.vocabulary,
            shard.relations,
            about,
            half=self.half,
        )

    @property
    def summary(self) -> str:
        """One line on the pairs and the network."""
        train, held = len(self.pairs.train), len(self.pairs.validation)
        parameters = sum(parameter.numel() for parameter in self.network.parameters())
        return f"training on {train:,} pairs, validating on {held:,}; {parameters:,} parameters"


def _checksum(shard: Shard) -> int:
    """Return a checksum that is equal for equal graphs and pairs."""
    check = 0
    for array in (*shard.columns.values(), *shard.starts.values(), np.array(shard.pairs, np.int64)):
        check = zlib.crc32(np.ascontiguousarray(array).data, check)
    return check
