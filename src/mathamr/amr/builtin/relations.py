"""Relation identification: how probable each relation between two nodes is, and which node is the root."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mathamr.amr.builtin.concepts import Draft, context
from mathamr.amr.builtin.features import Paths, node_features, pair_features, type_of, worth_scoring
from mathamr.amr.builtin.frames import Frames
from mathamr.amr.builtin.network import Array, Weights, softmax, sum_rows

SAME = "="
MAX_PAIRS = 6000
NEAR = 12


@dataclass
class RelationScores:
    """Probabilities of relations for ordered pairs of nodes of one draft, and a score of each node as root."""

    pairs: list[tuple[int, int]]
    probabilities: Array
    roots: Array


class RelationModel:
    """Scores all pairs of nodes that are near each other in the dependency tree."""

    def __init__(self, weights: Weights, frames: Frames) -> None:
        self.frames = frames
        arrays = weights.arrays
        self._nodes = weights.bag("pair/source")
        self._pairs = weights.bag("pair/pair")
        self._source, self._target = arrays["pair/source"], arrays["pair/target"]
        self._source_dense, self._source_bias = arrays["pair/source_dense"], arrays["pair/source_dense/bias"]
        self._target_dense = arrays["pair/target_dense"]
        self._output, self._output_bias = arrays["pair/output"], arrays["pair/output/bias"]
        self._root, self._root_dense = arrays["root/node"], arrays["root/dense"]
        self._root_bias, self._root_output = arrays["root/dense/bias"], arrays["root/output"]
        self.labels: list[str] = weights.table("relations", list)
        self.paths: frozenset[str] = frozenset(weights.table("paths", list))

    def score(self, drafts: Sequence[Draft]) -> list[RelationScores]:
        """Scores for each draft; all drafts go through the network together."""
        node_rows: list[list[int]] = []
        pair_rows: list[list[int]] = []
        pairs: list[list[tuple[int, int]]] = []
        dense: list[Array] = []
        firsts: list[int] = []
        for draft in drafts:
            firsts.append(len(node_rows))
            inputs = context(draft.sentence)
            for number, node in enumerate(draft.nodes):
                node_rows.append(
                    self._nodes.ids(node_features(draft.sentence, draft.nodes, number, self.frames))
                )
                dense.append(inputs[node.token])
            pairs.append(self._add_pairs(draft, pair_rows))
        width = len(self.labels)
        if not node_rows:
            empty = np.zeros((0, width), dtype=np.float32)
            return [RelationScores([], empty, np.zeros(0, dtype=np.float32)) for _ in drafts]
        stacked = np.array(dense, dtype=np.float32)
        sources = sum_rows(self._source, node_rows) + stacked @ self._source_dense + self._source_bias
        targets = sum_rows(self._target, node_rows) + stacked @ self._target_dense
        hidden = np.maximum(
            sum_rows(self._root, node_rows) + stacked @ self._root_dense + self._root_bias, 0.0
        )
        roots: Array = (hidden @ self._root_output)[:, 0]
        starts = np.repeat(firsts, [len(found) for found in pairs])
        ends = np.array([pair for found in pairs for pair in found], dtype=np.int64).reshape(-1, 2)
        probabilities = np.zeros((len(ends), width), dtype=np.float32)
        for begin in range(0, len(ends), 8192):
            part = slice(begin, begin + 8192)
            one, other = ends[part, 0] + starts[part], ends[part, 1] + starts[part]
            joint = sources[one] + targets[other] + self._pairs.fixed_sums(pair_rows[part])
            probabilities[part] = softmax(np.maximum(joint, 0.0) @ self._output + self._output_bias)
        return self._cut(drafts, pairs, firsts, probabilities, roots)

    def _add_pairs(self, draft: Draft, rows: list[list[int]]) -> list[tuple[int, int]]:
        sentence, nodes = draft.sentence, draft.nodes
        paths = Paths(sentence)
        kinds = [type_of(node) for node in nodes]
        roles = [
            self.frames.roles(n.concept) if kind == "frame" else "-"
            for n, kind in zip(nodes, kinds, strict=True)
        ]
        window = len(nodes) if len(nodes) ** 2 <= MAX_PAIRS else NEAR
        found = []
        for i, source in enumerate(nodes):
            if source.constant or kinds[i] == "name":
                continue
            for j in range(max(0, i - window), min(len(nodes), i + window + 1)):
                target = nodes[j]
                if kinds[j] == "name" or source.token == target.token:
                    continue
                path, length = paths.between(source.token, target.token)
                if not worth_scoring(path, length, kinds[i], kinds[j], self.paths):
                    continue
                rows.append(
                    self._pairs.fixed_ids(
                        pair_features(sentence, source, target, (kinds[i], kinds[j]), path, roles[i])
                    )
                )
                found.append((i, j))
        return found

    def _cut(
        self,
        drafts: Sequence[Draft],
        pairs: list[list[tuple[int, int]]],
        firsts: list[int],
        probabilities: Array,
        roots: NDArray[np.float32],
    ) -> list[RelationScores]:
        made = []
        start = 0
        for draft, found, first in zip(drafts, pairs, firsts, strict=True):
            made.append(
                RelationScores(
                    found, probabilities[start : start + len(found)], roots[first : first + len(draft.nodes)]
                )
            )
            start += len(found)
        return made
