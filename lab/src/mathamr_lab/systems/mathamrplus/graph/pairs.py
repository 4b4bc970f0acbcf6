"""`GraphPairs`: the graphs and pairs that a network is trained on, and the steps made from them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from mathamr.core.arrays import AnyArray, IntArray
from mathamr.core.errors import MathAMRError
from mathamr.graphs.shard import Shard
from mathamr.posts.level import Level
from mathamr.systems.layers.batch import GraphBatch
from mathamr.systems.layers.stack import GraphStack, packed
from mathamr.systems.mathamrplus.graphencoder import BUDGET
from mathamr_lab.systems.mathamrplus.graph.augmentation import augmented, graph_keys
from mathamr_lab.systems.mathamrplus.graph.configuration import GraphTraining
from mathamr_lab.training.contrastive import ContrastiveStep
from mathamr_lab.training.losses import Contrast
from mathamr_lab.training.pairs import Answers, checked, split


class GraphPairs:
    """The training and validation pairs of a shard, and steps made from them."""

    def __init__(self, shard: Shard, configuration: GraphTraining) -> None:
        self.shard, self.configuration = shard, configuration
        pairs: IntArray = checked(np.array(shard.pairs, np.int64).reshape(-1, 2), len(shard))
        self.train, self.validation = split(pairs, configuration.validation, configuration.seed)
        if len(self.train) < 2:
            raise MathAMRError("too few training pairs are left after the validation pairs were held out")
        self._answers = Answers(pairs, len(shard))
        self._counts = np.diff(shard.starts["reps"])
        self._costs = np.diff(shard.starts["nodes"]) + 2 * np.diff(shard.starts["edges"])
        if configuration.beta < 1:
            self._check_documents()

    def _check_documents(self) -> None:
        levels = self.shard.columns["levels"]
        last = self.shard.starts["reps"][1:] - 1
        missing = (self._counts == 0) | (levels[np.maximum(last, 0)] != Level.DOCUMENT)
        if missing.any():
            raise MathAMRError(
                f"beta below 1 trains document vectors, but {int(missing.sum())} graphs, the first of post"
                f" {self.shard.ids[int(missing.argmax())]!r}, have no document node: graphs of the configuration"
                f" {self.shard.configuration} cannot be trained with it"
            )

    def step(
        self, pairs: IntArray, places: AnyArray, epoch: int, device: torch.device
    ) -> ContrastiveStep[GraphBatch]:
        """Return the work of a training step on these pairs; `places` are their numbers among the training pairs."""
        configuration = self.configuration
        # The factor 3 keeps the random numbers of earlier trainings.
        slots = np.concatenate([3 * places, 3 * places + 1])
        keys = graph_keys(configuration.seed, epoch, slots)
        graphs = pairs.T.flatten()
        costs = ((place, int(self._costs[graph])) for place, graph in enumerate(graphs))
        parts = []
        for part in packed(costs, configuration.budget):
            stack = GraphStack.of_shard(self.shard, graphs[part])
            stack = augmented(stack, keys[part], configuration.node_mask, configuration.edge_drop)
            parts.append(GraphBatch.of(stack))
        if len(parts) == 1:
            parts = [parts[0].to(device)]
        return ContrastiveStep(
            parts=tuple(parts),
            questions=int(self._counts[pairs[:, 0]].sum()),
            contrast=self.contrast(pairs[:, 0], pairs[:, 1], device),
        )

    def contrast(self, questions: AnyArray, documents: AnyArray, device: torch.device) -> Contrast:
        """Return what the vectors of these questions and documents represent."""
        ours, theirs = self._counts[questions], self._counts[documents]
        return Contrast.of(
            ours,
            theirs,
            answers=self._answers.among(questions, documents),
            query_documents=np.cumsum(ours) - 1,
            document_documents=np.cumsum(theirs) - 1,
            device=device,
        )

    def plain(self, graphs: AnyArray) -> Iterator[GraphBatch]:
        """Yield graphs without augmentation, a few at a time."""
        costs = ((number, int(self._costs[number])) for number in graphs)
        for part in packed(costs, min(BUDGET, self.configuration.budget)):
            yield GraphBatch.of(GraphStack.of_shard(self.shard, np.array(part)))
