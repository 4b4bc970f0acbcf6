"""Graphs as values of networkx and of PyTorch Geometric, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mathamr.core.errors import MathAMRError, MissingExtraError
from mathamr.graphs.flatgraph import FlatGraph, NodePart, Representative
from mathamr.graphs.tensor import GraphTensor
from mathamr.graphs.vocabulary import RelationVocabulary
from mathamr.posts.level import Level

if TYPE_CHECKING:
    from networkx import MultiDiGraph
    from torch_geometric.data import Data

PYG = "pip install torch torch-geometric"


def to_networkx(graph: FlatGraph) -> MultiDiGraph:
    """Return a graph with its labels and roles: nodes 0, 1, … with `label` and `part`, edges with `relation`.

    The nodes that represent the post have `stands_for` too, a list of (number, level, reference). Inverse edges are left out.
    """
    try:
        from networkx import MultiDiGraph
    except ImportError as error:
        raise MissingExtraError("networkx", "pip install networkx") from error
    found = MultiDiGraph()
    for node, (label, part) in enumerate(zip(graph.labels, graph.parts, strict=True)):
        found.add_node(node, label=label, part=part.name.lower())
    for number, (source, relation, target) in enumerate(graph.edges):
        found.add_edge(source, target, key=number, relation=relation)
    for number, each in enumerate(graph.representatives):
        places = found.nodes[each.node].setdefault("stands_for", [])
        places.append((number, each.level.name.lower(), each.reference))
    return found


def from_networkx(graph: MultiDiGraph) -> FlatGraph:
    """Return the graph of `to_networkx`; nodes must be the numbers from 0."""
    if sorted(graph.nodes) != list(range(len(graph))):
        raise MathAMRError("the nodes of a graph must be the numbers 0, 1, …")
    flat = FlatGraph()
    for node in range(len(graph)):
        row = graph.nodes[node]
        flat.add(row["label"], NodePart[row["part"].upper()])
    edges = sorted(graph.edges(keys=True, data="relation"), key=lambda edge: edge[2])
    flat.edges = [(source, relation, target) for source, target, _, relation in edges]
    places = [(*each, node) for node, found in graph.nodes(data="stands_for", default=()) for each in found]
    flat.representatives = [
        Representative(node, Level[level.upper()], reference) for _, level, reference, node in sorted(places)
    ]
    return flat


def to_pyg(tensor: GraphTensor, relations: RelationVocabulary) -> Data:
    """Return a graph as PyTorch Geometric's `Data`, as `RGCNConv(…, num_relations=data.num_relations)` takes it.

    `x` has the numbers of the nodes' labels, `edge_type` those of the relations: inverse edges have relations of their own, so
    that there are twice as many as lines in `relations.txt`. `relation_names` names them all. Batches move `representative_index`
    along with the nodes.
    """
    try:
        import torch
        from torch_geometric.data import Data
    except ImportError as error:
        raise MissingExtraError("PyTorch Geometric", PYG) from error
    if len(tensor.relation_ids) and int(tensor.relation_ids.max()) >= len(relations):
        raise MathAMRError(
            f"graph {tensor.post_id!r} has relation {int(tensor.relation_ids.max())}, and the vocabulary has"
            f" {len(relations)}; give the relations.txt that was stored with it"
        )

    def long(values: Any) -> Any:
        return torch.from_numpy(np.asarray(values, np.int64))

    return Data(
        x=long(tensor.node_ids),
        edge_index=long(tensor.edge_index),
        edge_type=long(tensor.relation_ids),
        part=long(tensor.parts),
        representative_index=long(tensor.representatives),
        level=long(tensor.levels),
        reference=tensor.references,
        post_id=tensor.post_id,
        num_relations=len(relations),
        relation_names=tuple(map(relations.name, range(len(relations)))),
    )


def from_pyg(data: Data) -> GraphTensor:
    """Return the graph of `to_pyg`."""

    def ints(values: Any) -> Any:
        return values.cpu().numpy().astype(np.int32)

    return GraphTensor(
        data.post_id,
        ints(data.x),
        ints(data.edge_index),
        ints(data.edge_type),
        ints(data.representative_index),
        ints(data.level),
        tuple(data.reference),
        data.part.cpu().numpy().astype(np.uint8),
    )
