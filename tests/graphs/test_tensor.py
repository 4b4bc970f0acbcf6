from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from mathamr.core.errors import MathAMRError
from mathamr.graphs.configuration import GraphConfiguration
from mathamr.graphs.mathgraph import MathGraph
from mathamr.graphs.tensor import GraphTensor, tensorise
from mathamr.graphs.virtual import flatten
from mathamr.graphs.vocabulary import RelationVocabulary, Vocabulary, VocabularyCounts
from mathamr.posts.level import Level
from tests.graphs.small import small_graph
from tests.graphs.strategies import math_graphs


def vocabularies(graph: MathGraph) -> tuple[Vocabulary, RelationVocabulary]:
    counts = VocabularyCounts()
    counts.count(flatten(graph))
    return Vocabulary.build(counts, number_threshold=1), RelationVocabulary.build(counts)


def test_numbers_name_the_same_nodes_and_edges_as_the_flat_graph() -> None:
    graph = small_graph()
    vocabulary, relations = vocabularies(graph)
    tensor, flat = tensorise(graph, vocabulary, relations), flatten(graph)
    assert [vocabulary.labels[n] for n in tensor.node_ids][6] == "U!plus"
    forward = [
        (int(a), relations.name(int(r)), int(b))
        for a, b, r in zip(*tensor.edge_index, tensor.relation_ids, strict=True)
    ]
    half = tensor.forward_edges
    assert forward[:half] == flat.edges
    assert forward[half:] == [(b, f"{role}*", a) for a, role, b in flat.edges]
    assert tensor.document == len(tensor) - 1
    assert tensor.levels.tolist() == [Level.FORMULA] * 2 + [Level.SENTENCE] * 2 + [Level.DOCUMENT]


def test_without_virtual_nodes_there_is_no_document() -> None:
    graph = small_graph()
    tensor = tensorise(graph, *vocabularies(graph), GraphConfiguration(structure="none"))
    assert tensor.document is None


@given(math_graphs())
def test_bytes_read_back_to_the_same_tensor(graph: MathGraph) -> None:
    tensor = tensorise(graph, *vocabularies(graph))
    read = GraphTensor.from_bytes(tensor.to_bytes())
    for name in ("node_ids", "edge_index", "relation_ids", "representatives", "levels", "parts"):
        np.testing.assert_array_equal(getattr(read, name), getattr(tensor, name))
    assert (read.post_id, read.references) == (tensor.post_id, tensor.references)


def test_damaged_bytes_are_an_error_and_never_a_wrong_graph() -> None:
    graph = small_graph()
    blob = tensorise(graph, *vocabularies(graph)).to_bytes()
    with pytest.raises(MathAMRError, match="not a stored graph"):
        GraphTensor.from_bytes(b"PK\x03\x04")
    for place in range(7, len(blob), 5):
        damaged = bytearray(blob)
        damaged[place] ^= 0x55
        with pytest.raises(MathAMRError, match="damaged"):
            GraphTensor.from_bytes(bytes(damaged))
    with pytest.raises(MathAMRError, match="damaged"):
        GraphTensor.from_bytes(blob[: len(blob) // 2])
