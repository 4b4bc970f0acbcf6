"""`GraphTensor`: a post's graph as arrays, and its compact bytes."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from mathamr.core.arrays import ByteArray, Int32Array
from mathamr.core.errors import MathAMRError
from mathamr.core.sqlite import inflated
from mathamr.graphs.configuration import GraphConfiguration
from mathamr.graphs.flatgraph import FlatGraph
from mathamr.graphs.mathgraph import MathGraph
from mathamr.graphs.virtual import flatten
from mathamr.graphs.vocabulary import RelationVocabulary, Vocabulary
from mathamr.posts.level import Level

_MAGIC = b"MG1"


@dataclass(frozen=True, slots=True, eq=False)
class GraphTensor:
    """Nodes, edges and representatives of one post.

    The first half of the edges are the forward ones, the second half their inverses in the same order: edge
    e + E/2 runs against edge e with the next relation number. `representatives` are the nodes whose vectors
    represent the post, `levels` what they stand for (`Level`), `references` their formula id, sentence number or
    post id.
    """

    post_id: str
    node_ids: Int32Array
    edge_index: Int32Array
    relation_ids: Int32Array
    representatives: Int32Array
    levels: Int32Array
    references: tuple[str, ...]
    parts: ByteArray

    def __len__(self) -> int:
        return len(self.node_ids)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GraphTensor) and self.to_bytes() == other.to_bytes()

    __hash__ = None  # type: ignore[assignment]

    @property
    def forward_edges(self) -> int:
        """The number of edges without the inverse ones."""
        return len(self.relation_ids) // 2

    @property
    def document(self) -> int | None:
        """The document's virtual node, which is always the last representative, if there is one."""
        if len(self.levels) and self.levels[-1] == Level.DOCUMENT:
            return int(self.representatives[-1])
        return None

    def to_bytes(self) -> bytes:
        """Return compact bytes without pickles; inverse edges are left out because they follow from the others."""
        half = self.forward_edges
        sizes = [len(self.node_ids), half, len(self.representatives)]
        head = json.dumps([self.post_id, sizes, self.references], ensure_ascii=False).encode()
        arrays = (
            self.node_ids,
            self.edge_index[0, :half],
            self.edge_index[1, :half],
            self.relation_ids[:half],
            self.representatives,
            self.levels,
        )
        body = b"".join(np.ascontiguousarray(array, "<i4").tobytes() for array in arrays)
        body += self.parts.tobytes()
        return _MAGIC + len(head).to_bytes(4, "little") + zlib.compress(head + body, 1)

    @classmethod
    def from_bytes(cls, blob: bytes) -> GraphTensor:
        """Read the bytes of `to_bytes`; damaged bytes raise an error and never give a wrong graph."""
        if not isinstance(blob, bytes) or not blob.startswith(_MAGIC):
            raise MathAMRError("these bytes are not a stored graph of this version; build the store again")
        try:
            head_size = int.from_bytes(blob[3:7], "little")
            content = inflated(blob[7:])
            post_id, (nodes, edges, count), references = json.loads(content[:head_size])
            ints = nodes + 3 * edges + 2 * count
            numbers: Any = np.frombuffer(content, "<i4", ints, head_size).astype(np.int32)
            parts = np.frombuffer(content, np.uint8, nodes, head_size + 4 * ints)
        except (ValueError, zlib.error, IndexError, TypeError) as error:
            raise MathAMRError(f"a stored graph is damaged ({error}); build it again") from error
        cuts = np.cumsum([nodes, edges, edges, edges, count])
        node_ids, sources, targets, relations, representatives, levels = np.split(numbers, cuts)
        index, relation_ids = with_inverse(np.stack([sources, targets]), relations)
        return cls(post_id, node_ids, index, relation_ids, representatives, levels, tuple(references), parts)


def with_inverse(edge_index: Int32Array, relation_ids: Int32Array) -> tuple[Int32Array, Int32Array]:
    """Return the edges followed by the inverse of each (thesis, section 3.1)."""
    return (
        np.concatenate([edge_index, edge_index[::-1]], axis=1),
        np.concatenate([relation_ids, relation_ids + 1]),
    )


def tensorise(
    graph: MathGraph,
    vocabulary: Vocabulary,
    relations: RelationVocabulary,
    configuration: GraphConfiguration | None = None,
) -> GraphTensor:
    """Return the tensor of a post's graph in one configuration."""
    return tensor_of(graph.post_id, flatten(graph, configuration), vocabulary, relations)


def tensor_of(
    post_id: str, flat: FlatGraph, vocabulary: Vocabulary, relations: RelationVocabulary
) -> GraphTensor:
    """Return the tensor of a flat graph."""
    node_ids = np.fromiter(map(vocabulary.number, flat.labels, flat.parts), np.int32, len(flat.labels))
    pairs = np.array([(source, target) for source, _, target in flat.edges], np.int32).reshape(-1, 2).T
    forward = np.fromiter((relations.number(role) for _, role, _ in flat.edges), np.int32, len(flat.edges))
    edge_index, relation_ids = with_inverse(pairs, forward)
    return GraphTensor(
        post_id,
        node_ids,
        edge_index,
        relation_ids,
        np.array([r.node for r in flat.representatives], np.int32),
        np.array([r.level for r in flat.representatives], np.int32),
        tuple(r.reference for r in flat.representatives),
        np.array(flat.parts, np.uint8),
    )
