"""Relation identification: the probability of each relation between two nodes, and which node is the root."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from mathamr.amr.builtin.concepts import MEMORY
from mathamr.amr.builtin.frames import Frames
from mathamr.amr.builtin.network import Network, WordScores, softmax
from mathamr.amr.builtin.nodes import KINDS, Draft
from mathamr.amr.builtin.numbers import PLACES, SAME, Vocabularies, concept_numbers
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
    """The network's scores for the pairs of nodes of one draft."""

    roots: FloatArray
    edges: list[tuple[float, int, int, int]]
    """Probability, source, target and label of every edge that is not improbable, most probable first."""
    mentions: list[tuple[float, int, int]]
    """Probability, node and the node it is the same as, in the same order."""


@lru_cache(maxsize=128)
def pairs(count: int) -> tuple[IntArray, IntArray]:
    """Return all ordered pairs of `count` nodes; above `MAX_NODES`, only pairs at most `NEAR` apart."""
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
        self.network = network
        self.labels = list(vocabularies.labels)
        self._same = vocabularies.labels.get(SAME, -1)
        self._numbers = lru_cache(MEMORY)(partial(concept_numbers, found=vocabularies, frames=frames))
        """The numbers of a concept, kept for the next node of the kind."""

    def score(self, drafts: Sequence[Draft], words: WordScores) -> list[RelationScores]:
        """Return the probabilities of relations between the nodes of each draft."""
        sizes = [len(draft.nodes) for draft in drafts]
        if not sum(sizes):
            return [RelationScores(np.zeros(0, np.float32), [], []) for _ in drafts]
        nodes = [node for draft in drafts for node in draft.nodes]
        token = np.array([node.token for node in nodes], np.int64) + np.repeat(words.starts, sizes)
        place = np.minimum([node.place for node in nodes], PLACES - 1)
        numbers = np.array([self._numbers(node.concept, constant=node.constant) for node in nodes], np.int64)
        concept, kind, is_source, roles = *numbers[:, :3].T, numbers[:, 3:].astype(np.float32)
        ends, roots = self.network.nodes(words, token, concept, kind, place, roles)
        firsts = np.cumsum(sizes, dtype=np.int64) - np.asarray(sizes, np.int64)
        of_drafts = [pairs(size) for size in sizes]
        owner = np.repeat(np.arange(len(drafts)), [len(own) for own, _ in of_drafts])
        sources = np.concatenate([own for own, _ in of_drafts]) + firsts[owner]
        targets = np.concatenate([own for _, own in of_drafts]) + firsts[owner]
        related = (is_source[sources] == 1) & (kind[targets] != _NAME) & (token[sources] != token[targets])
        sources, targets, owner = sources[related], targets[related], owner[related]
        scores = self.network.relations(words, ends, token, sources, targets)
        return likely_edges(
            softmax(scores), sources, targets, owner, firsts, np.split(roots, firsts[1:]), self._same
        )


def likely_edges(
    probabilities: FloatArray,
    sources: IntArray,
    targets: IntArray,
    owner: IntArray,
    firsts: IntArray,
    roots: Sequence[FloatArray],
    same_label: int,
) -> list[RelationScores]:
    """Return the edges of every draft that are not improbable, sorted; nodes are numbered within their draft."""
    likely = probabilities > LEAST
    likely[:, 0] = False
    rows, columns = np.nonzero(likely)
    values = probabilities[rows, columns]
    order = np.lexsort((-values, owner[rows]))
    rows, columns, values = rows[order], columns[order], values[order]
    owner = owner[rows]
    sources, targets = sources[rows] - firsts[owner], targets[rows] - firsts[owner]
    bounds = np.searchsorted(owner, np.arange(len(roots) + 1)).tolist()
    every = list(zip(values.tolist(), sources.tolist(), targets.tolist(), columns.tolist(), strict=True))
    found = []
    for number, own in enumerate(roots):
        first = bounds[number]
        chosen = every[first : min(bounds[number + 1], first + MOST_EDGES * max(1, len(own)))]
        edges = [edge for edge in chosen if edge[3] != same_label]
        mentions = [edge[:3] for edge in chosen if edge[3] == same_label]
        found.append(RelationScores(own, edges, mentions))
    return found
