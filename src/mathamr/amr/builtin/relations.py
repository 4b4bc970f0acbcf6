"""Relation identification: the probability of each relation between two nodes, and which node is the root."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mathamr.amr.builtin.concepts import Draft
from mathamr.amr.builtin.frames import Frames
from mathamr.amr.builtin.network import Network, WordScores, softmax
from mathamr.amr.builtin.nodes import KINDS
from mathamr.amr.builtin.numbers import SAME, Vocabularies, node_numbers
from mathamr.core.arrays import FloatArray, IntArray

LEAST = 0.003
"""Edges less probable than this are ignored."""
MOST_EDGES = 30
"""The number of edges, times that of nodes, among which the graph is sought."""
MAX_NODES, NEAR = 77, 12
"""In a larger draft only nodes that are close together are related, so that time and memory stay linear."""
_NAME = KINDS.index("name")


@dataclass
class RelationScores:
    """What the network says of the pairs of one draft's nodes."""

    roots: FloatArray
    edges: list[tuple[float, int, int, int]]
    """Probability, source, target and label of every edge that is not improbable, most probable first."""
    mentions: list[tuple[float, int, int]]
    """Probability, node and the node it is the same as, in the same order."""

    @classmethod
    def of(
        cls,
        sources: IntArray,
        targets: IntArray,
        probabilities: FloatArray,
        roots: FloatArray,
        labels: Sequence[str],
    ) -> RelationScores:
        """The scores of pairs, sorted."""
        likely = probabilities > LEAST
        likely[:, 0] = False
        rows, columns = np.nonzero(likely)
        values = probabilities[rows, columns]
        order = np.argsort(-values, kind="stable")[: MOST_EDGES * max(1, len(roots))]
        listed = zip(
            values[order].tolist(),
            sources[rows[order]].tolist(),
            targets[rows[order]].tolist(),
            columns[order].tolist(),
            strict=True,
        )
        same = labels.index(SAME) if SAME in labels else -1
        edges, mentions = [], []
        for edge in listed:
            if edge[3] == same:
                mentions.append(edge[:3])
            else:
                edges.append(edge)
        return cls(roots, edges, mentions)


def pairs(count: int) -> tuple[IntArray, IntArray]:
    """All ordered pairs of so many nodes; of many nodes only pairs that are close together."""
    numbers = np.arange(count)
    if count <= MAX_NODES:
        return np.repeat(numbers, count), np.tile(numbers, count)
    steps = np.arange(-NEAR, NEAR + 1)
    sources, targets = np.repeat(numbers, len(steps)), (numbers[:, None] + steps).ravel()
    inside = (targets >= 0) & (targets < count)
    return sources[inside], targets[inside]


class RelationModel:
    """Scores the pairs of a draft's nodes."""

    def __init__(self, network: Network, vocabularies: Vocabularies, frames: Frames) -> None:
        self.network, self.vocabularies, self.frames = network, vocabularies, frames
        self.labels = list(vocabularies.labels)

    def score(self, draft: Draft, words: WordScores) -> RelationScores:
        """The probabilities of relations between the nodes of a draft."""
        if not draft.nodes:
            return RelationScores(np.zeros(0, np.float32), [], [])
        rows = [node_numbers(node, self.vocabularies, self.frames) for node in draft.nodes]
        token, concept, kind, place, is_source = np.array([row[:5] for row in rows], np.int64).T
        roles = np.array([row[5] for row in rows], np.float32)
        ends, roots = self.network.nodes(words, token, concept, kind, place, roles)
        sources, targets = pairs(len(rows))
        related = (is_source[sources] == 1) & (kind[targets] != _NAME) & (token[sources] != token[targets])
        sources, targets = sources[related], targets[related]
        scores = self.network.relations(words, ends, token, sources, targets)
        return RelationScores.of(sources, targets, softmax(scores), roots, self.labels)
