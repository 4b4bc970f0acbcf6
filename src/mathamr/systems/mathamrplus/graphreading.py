"""What turns graphs into vectors: numpy alone where that is enough, torch on a GPU and for the rarer networks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mathamr.core.arrayfile import read_arrays
from mathamr.core.errors import MathAMRError
from mathamr.core.integrity import checked_file
from mathamr.graphs.tensor import GraphTensor
from mathamr.graphs.vocabulary import RelationVocabulary, Vocabulary
from mathamr.systems.layers.stack import GraphStack, check_numbers, cost, packed
from mathamr.systems.mathamrplus.configuration import ModelConfiguration
from mathamr.systems.mathamrplus.plainnetwork import PlainNetwork, is_plain
from mathamr.systems.modelhead import WEIGHTS, ModelHead, read_head, read_vocabularies
from mathamr.systems.vectors import Vectors
from mathamr.text.reading import computes_on_processor
from mathamr.text.textvectors import TextVectors

if TYPE_CHECKING:
    from mathamr.systems.mathamrplus.graphencoder import GraphEncoder

ENCODER = "mathamrplus"
BUDGET = 20_000
"""Nodes and edges that are encoded at a time: what lies in the processor's cache."""


class GraphReader(Protocol):
    """What encodes graphs, whatever computes it."""

    name: str
    vocabulary: Vocabulary
    relations: RelationVocabulary
    graphs: str
    fingerprint: str
    size: int
    text_size: int

    def encode(
        self, tensors: Iterable[GraphTensor], texts: Iterable[TextVectors | None] | None = None
    ) -> Iterator[Vectors]:
        """The vectors of every graph, in the order of the graphs."""
        ...


class PlainGraphEncoder:
    """Encodes graphs like `GraphEncoder`, without torch: batched, in order, with bounded memory."""

    text_size = 0

    def __init__(self, folder: Path, head: ModelHead, configuration: ModelConfiguration) -> None:
        self.source, self.name = folder, head.encoder
        self.vocabulary, self.relations = read_vocabularies(folder, head)
        checked_file(folder / WEIGHTS, head.hashes)
        try:
            self.network = PlainNetwork(
                configuration, read_arrays(folder / WEIGHTS), len(self.vocabulary), len(self.relations)
            )
        except MathAMRError as error:
            raise MathAMRError(f"{folder / WEIGHTS}: {error}") from error
        self.graphs, self.fingerprint, self.size = head.graphs, head.fingerprint, configuration.projection

    def encode(
        self, tensors: Iterable[GraphTensor], texts: Iterable[TextVectors | None] | None = None
    ) -> Iterator[Vectors]:
        """The vectors of every graph, in the order of the graphs."""
        if texts is not None:
            raise MathAMRError("this model has no slot for text vectors; encode without them")
        for chosen in packed(((tensor, cost(tensor)) for tensor in tensors), BUDGET):
            stack = GraphStack.of_tensors(chosen)
            check_numbers(stack, chosen, len(self.vocabulary), len(self.relations))
            ends = np.cumsum(stack.representative_counts)
            for tensor, vectors in zip(chosen, np.split(self.network(stack), ends[:-1]), strict=True):
                yield Vectors(vectors.copy(), tensor.levels, tensor.references)


def load_graph_reader(folder: Path, device: str = "auto") -> GraphReader:
    """The graph encoder in a folder, by numpy where that computes its network and no GPU is asked for."""
    head = read_head(folder)
    if head.encoder == ENCODER:
        configuration = ModelConfiguration.from_json(head.model)
        if is_plain(configuration) and computes_on_processor(device):
            return PlainGraphEncoder(folder, head, configuration)
    return _by_torch(folder, device)


def exact_graph_encoder(reader: GraphReader) -> GraphEncoder:
    """The same encoder as a network of torch, for saving and training."""
    from mathamr.systems.mathamrplus.graphencoder import GraphEncoder

    if isinstance(reader, GraphEncoder):
        return reader
    assert isinstance(reader, PlainGraphEncoder)
    return _by_torch(reader.source, "cpu")


def _by_torch(folder: Path, device: str) -> GraphEncoder:
    from mathamr.systems.mathamrplus.graphencoder import GraphEncoder

    return GraphEncoder.load(folder, device)
