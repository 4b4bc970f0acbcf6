"""The two backends that turn graphs into vectors: numpy by default, torch on a GPU and for networks that numpy lacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mathamr.core.errors import MathAMRError
from mathamr.core.tensorfile import read_arrays
from mathamr.graphs.tensor import GraphTensor
from mathamr.graphs.vocabulary import RelationVocabulary, Vocabulary
from mathamr.systems.layers.stack import GraphStack, check_numbers, cost, packed
from mathamr.systems.mathamrplus.graphfolder import ENCODER, GraphFolder, read_graph_folder
from mathamr.systems.mathamrplus.numpynetwork import NumpyNetwork, runs_in_numpy
from mathamr.systems.vectors import Vectors
from mathamr.text.backend import ONNX, current_backend

if TYPE_CHECKING:
    from mathamr.systems.mathamrplus.graphencoder import GraphEncoder

BUDGET = 20_000
"""The number of nodes and edges that are encoded at a time: they fit the processor's cache."""


class GraphBackend(Protocol):
    """An encoder of graphs, in numpy or in torch."""

    name: str
    vocabulary: Vocabulary
    relations: RelationVocabulary
    graphs: str
    fingerprint: str
    size: int

    def encode(self, tensors: Iterable[GraphTensor]) -> Iterator[Vectors]:
        """Return the vectors of every graph, in the order of the graphs."""
        ...


class NumpyGraphEncoder:
    """Encodes graphs like `GraphEncoder`, without torch: in batches, in order, in bounded memory."""

    name = ENCODER

    def __init__(self, path: Path, folder: GraphFolder) -> None:
        self.source = path
        self.vocabulary, self.relations = folder.vocabulary, folder.relations
        try:
            self.network = NumpyNetwork(
                folder.configuration, read_arrays(folder.weights), len(self.vocabulary), len(self.relations)
            )
        except MathAMRError as error:
            raise MathAMRError(f"{folder.weights}: {error}") from error
        self.graphs, self.fingerprint = folder.graphs, folder.fingerprint
        self.size = folder.configuration.projection

    def encode(self, tensors: Iterable[GraphTensor]) -> Iterator[Vectors]:
        """Yield the vectors of every graph, in the order of the graphs."""
        for batch in packed(((tensor, cost(tensor)) for tensor in tensors), BUDGET):
            stack = GraphStack.of_tensors(batch)
            check_numbers(stack, batch, len(self.vocabulary), len(self.relations))
            ends = np.cumsum(stack.representative_counts)
            for tensor, vectors in zip(batch, np.split(self.network(stack), ends[:-1]), strict=True):
                yield Vectors(vectors.copy(), tensor.levels, tensor.references)


def load_graph_backend(path: Path, device: str = "auto") -> GraphBackend:
    """Load the graph encoder in a folder: in numpy if it supports the network and no GPU is requested."""
    folder = read_graph_folder(path)
    if runs_in_numpy(folder.configuration) and current_backend(device) == ONNX:
        return NumpyGraphEncoder(path, folder)
    return _in_torch(path, device)


def torch_graph_encoder(backend: GraphBackend) -> GraphEncoder:
    """Load the same encoder in torch, for saving and training."""
    from mathamr.systems.mathamrplus.graphencoder import GraphEncoder

    if isinstance(backend, GraphEncoder):
        return backend
    assert isinstance(backend, NumpyGraphEncoder)
    return _in_torch(backend.source, "cpu")


def _in_torch(path: Path, device: str) -> GraphEncoder:
    from mathamr.systems.mathamrplus.graphencoder import GraphEncoder

    return GraphEncoder.load(path, device)
