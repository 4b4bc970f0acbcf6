"""Graphs in networkx and PyTorch Geometric, and back: ten graphs of the sample."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from mathamr import sample
from mathamr.core.errors import MathAMRError
from mathamr.graphs.exchange import from_networkx, from_pyg, to_networkx, to_pyg
from mathamr.graphs.flatgraph import FlatGraph
from mathamr.graphs.maker import GraphMaker
from mathamr.graphs.tensor import GraphTensor, tensor_of
from mathamr.graphs.virtual import flatten
from mathamr.graphs.vocabulary import RelationVocabulary, Vocabulary, VocabularyCounts
from mathamr.posts.reader import read_posts
from tests.graphs.parsers import WordChain


@pytest.fixture(scope="module")
def flat_graphs() -> list[tuple[str, FlatGraph]]:
    """Ten questions and answers with formulas."""
    posts = (post for post in read_posts(sample.folder() / "Posts.xml") if post.formulas)
    made = GraphMaker(WordChain()).make(islice(posts, 10))
    return [(each.post.id, flatten(each.graph)) for each in made]


@pytest.fixture(scope="module")
def tensors(flat_graphs: list[tuple[str, FlatGraph]]) -> tuple[list[GraphTensor], RelationVocabulary]:
    counts = VocabularyCounts()
    for _, flat in flat_graphs:
        counts.count(flat)
    labels, relations = Vocabulary.build(counts, number_threshold=1), RelationVocabulary.build(counts)
    return [tensor_of(post, flat, labels, relations) for post, flat in flat_graphs], relations


def test_ten_graphs_come_back_from_networkx(flat_graphs: list[tuple[str, FlatGraph]]) -> None:
    pytest.importorskip("networkx", reason="needs networkx")
    assert len(flat_graphs) == 10
    for _, flat in flat_graphs:
        graph = to_networkx(flat)
        assert len(graph) == len(flat.labels) > 10
        assert graph.number_of_edges() == len(flat.edges)
        document = [row["label"] for _, row in graph.nodes(data=True) if row["part"] == "virtual"][-1]
        assert document == "VIRTUAL_DOCUMENT"
        assert from_networkx(graph) == flat


def test_nodes_of_networkx_that_are_no_numbers_are_refused() -> None:
    networkx = pytest.importorskip("networkx", reason="needs networkx")
    graph = networkx.MultiDiGraph()
    graph.add_node("a", label="odd", part="concept")
    with pytest.raises(MathAMRError, match="numbers 0, 1"):
        from_networkx(graph)


def test_ten_graphs_come_back_from_pytorch_geometric(
    tensors: tuple[list[GraphTensor], RelationVocabulary],
) -> None:
    pytest.importorskip("torch_geometric", reason="needs PyTorch Geometric")
    graphs, relations = tensors
    for tensor in graphs:
        data = to_pyg(tensor, relations)
        assert data.num_nodes == len(tensor)
        assert [data.relation_names[number] for number in data.edge_type] == [
            relations.name(int(number)) for number in tensor.relation_ids
        ]
        assert from_pyg(data) == tensor


def test_a_batch_of_ten_graphs_goes_through_a_relational_convolution(
    tensors: tuple[list[GraphTensor], RelationVocabulary],
) -> None:
    pyg = pytest.importorskip("torch_geometric", reason="needs PyTorch Geometric")
    torch = pytest.importorskip("torch")
    from torch_geometric.data import Batch

    graphs, relations = tensors
    found = [to_pyg(tensor, relations) for tensor in graphs]
    batch = Batch.from_data_list(found)
    torch.manual_seed(0)
    embedding = torch.nn.Embedding(int(batch.x.max()) + 1, 8)
    convolution = pyg.nn.RGCNConv(8, 8, found[0].num_relations)
    assert int(batch.edge_type.max()) >= len(relations.relations)  # more than the lines of relations.txt
    out = convolution(embedding(batch.x), batch.edge_index, batch.edge_type)
    alone = convolution(embedding(found[3].x), found[3].edge_index, found[3].edge_type)
    before = sum(map(len, graphs[:3]))
    torch.testing.assert_close(out[before : before + len(graphs[3])], alone)
    documents = batch.representative_index[batch.level == 2]
    assert documents.tolist() == (np.cumsum([len(tensor) for tensor in graphs]) - 1).tolist()


def test_a_vocabulary_that_lacks_a_relation_is_refused(
    tensors: tuple[list[GraphTensor], RelationVocabulary],
) -> None:
    pytest.importorskip("torch_geometric", reason="needs PyTorch Geometric")
    graphs, relations = tensors
    few = RelationVocabulary(relations.relations[:5])
    with pytest.raises(MathAMRError, match=r"relations\.txt"):
        to_pyg(graphs[0], few)
