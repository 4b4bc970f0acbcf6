"""`GraphEncoder`: turns graphs into vectors with a trained MathAMR+ network, in torch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mathamr.core.device import chosen_device
from mathamr.core.tensorfile import read_tensors, use_weights
from mathamr.core.unfilled import unfilled
from mathamr.graphs.tensor import GraphTensor
from mathamr.graphs.vocabulary import RelationVocabulary, Vocabulary
from mathamr.systems.layers.batch import GraphBatch
from mathamr.systems.layers.stack import GraphStack, check_numbers, cost, packed
from mathamr.systems.mathamrplus.graphfolder import ENCODER, read_graph_folder, save_graph_folder
from mathamr.systems.mathamrplus.network import MathAMRPlus
from mathamr.systems.vectors import Vectors

BUDGET = 200_000
"""The number of nodes and edges that are encoded at a time; a larger post is encoded alone, in pieces."""


class GraphEncoder:
    """Encodes graphs in batches, in order, in bounded memory; the same graph always has the same vectors."""

    name = ENCODER

    def __init__(
        self,
        model: MathAMRPlus,
        vocabulary: Vocabulary,
        relations: RelationVocabulary,
        graphs: str,
        *,
        device: str = "cpu",
        fingerprint: str = "",
        about: dict[str, Any] | None = None,
        budget: int = BUDGET,
    ) -> None:
        self.device = chosen_device(device)
        self.model = model.to(self.device).eval()
        self.vocabulary, self.relations, self.graphs = vocabulary, relations, graphs
        self.fingerprint, self.about, self.budget = fingerprint, about or {}, budget
        self.size = model.configuration.projection

    @classmethod
    def load(cls, folder: Path, device: str = "auto") -> GraphEncoder:
        """Load the encoder from a model folder."""
        read = read_graph_folder(folder)
        with unfilled():
            model = MathAMRPlus(read.configuration, len(read.vocabulary), len(read.relations))
        use_weights(model, read_tensors(read.weights), read.weights)
        return cls(
            model,
            read.vocabulary,
            read.relations,
            read.graphs,
            device=device,
            fingerprint=read.fingerprint,
            about=read.about,
        )

    def save(self, folder: Path, about: dict[str, Any] | None = None, *, half: bool = False) -> None:
        """Write the model folder that `load` reads."""
        save_graph_folder(
            folder,
            self.model.configuration,
            self.model.state_dict(),
            self.graphs,
            self.vocabulary,
            self.relations,
            about or self.about,
            half=half,
        )

    def encode(self, tensors: Iterable[GraphTensor]) -> Iterator[Vectors]:
        """Yield the vectors of every graph, in the order of the graphs."""
        for chosen in packed(((tensor, cost(tensor)) for tensor in tensors), self.budget):
            yield from self._vectors(chosen)

    def _vectors(self, tensors: list[GraphTensor]) -> Iterator[Vectors]:
        stack = GraphStack.of_tensors(tensors)
        check_numbers(stack, tensors, len(self.vocabulary), len(self.relations))
        with torch.inference_mode():
            rows = self.model(GraphBatch.of(stack).to(self.device)).float().cpu().numpy()
        ends = np.cumsum(stack.representative_counts)
        for tensor, vectors in zip(tensors, np.split(rows, ends[:-1]), strict=True):
            yield Vectors(vectors.copy(), tensor.levels, tensor.references)
