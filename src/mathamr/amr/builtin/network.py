"""`Network`: the parser's network, without torch: its layers by ONNX Runtime in eight bits, its scores in numpy.

Some sentences of one text are read at a time, each attending to its own words alone: a graph depends on its text, never on other texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from mathamr.amr.builtin.model import GAPS, NetworkConfiguration
from mathamr.amr.builtin.numbers import PLACES
from mathamr.core.arrays import AnyArray, FloatArray, IntArray
from mathamr.text.configuration import relative_buckets
from mathamr.text.onnxencoder import restored_array
from mathamr.text.onnxgraph import OnnxTransformer

WIDEST = 256
"""The longest sentence in words; the parser cuts longer ones before."""
TOGETHER = 128
"""Sentences of one text are read together up to so many words."""
_APART = np.float32(-1e4)


class WordScores:
    """The network's output for the words of some sentences: their states, tags, heads, and the soft dependency trees."""

    def __init__(self, states: FloatArray, tags: IntArray, arcs: FloatArray, starts: IntArray) -> None:
        """Keep the scores; `starts` has the first word of each sentence."""
        self.states, self.tags, self.starts = states, tags, starts
        best = arcs.argmax(axis=1)
        own = np.arange(len(states))
        self.heads: list[int] = np.where(best == 0, own, best - 1).tolist()
        shares = np.exp(arcs - arcs.max(axis=1, keepdims=True))
        self.tree: FloatArray = (shares / shares.sum(axis=1, keepdims=True))[:, 1:]

    def tree_features(self, one: IntArray, other: IntArray) -> FloatArray:
        """Return how probably two words are parent and child, further apart in line, or siblings: (pairs, features)."""
        up = self.tree
        two = up @ up
        both = [up, two, two @ up, up @ up.T, up @ two.T]
        there, back = [each[one, other] for each in both], [each[other, one] for each in both]
        features = [there[0], back[0], there[1], back[1], there[2], back[2], there[3], there[4], back[4]]
        return np.stack(features, axis=-1)


class Network:
    """Scores of words, cores, templates and relations; `weights` are matrices in eight bits with scales."""

    def __init__(self, configuration: NetworkConfiguration, weights: Mapping[str, AnyArray]) -> None:
        self.configuration = configuration
        self._weights = {
            name: restored_array(weights, name)
            for name in weights
            if not name.endswith(".scale") and not name.startswith("layers.")
        }
        self._layers = OnnxTransformer(configuration.transformer, weights)

    def _linear(self, name: str, rows: FloatArray) -> FloatArray:
        found: FloatArray = rows @ self._weights[f"{name}.weight"].T
        bias = self._weights.get(f"{name}.bias")
        if bias is not None:
            found += bias
        return found

    def words(self, pooled: FloatArray, shapes: IntArray, sizes: Sequence[int]) -> WordScores:
        """Return the scores of the words of sentences with these `sizes`, from the encoder's states (words, size) and the
        `shapes` of the words.
        """
        count = len(pooled)
        embedded = self._linear("project", pooled) + self._weights["shape.weight"][shapes]
        added = self._added[:, :count, :count]
        owner = np.repeat(np.arange(len(sizes)), sizes)
        apart = np.where(owner[:, None] == owner, np.float32(0), _APART)
        states = self._layers(embedded, added + apart if len(sizes) > 1 else np.ascontiguousarray(added))
        child, head = self._linear("child", states), self._linear("head", states)
        scale = np.float32(child.shape[1] ** -0.5)
        no_head = child @ self._weights["no_head"]
        arcs = np.concatenate([no_head[:, None], child @ head.T], axis=1) * scale
        arcs[:, 1:] += apart
        starts = np.cumsum(sizes, dtype=np.int64) - np.asarray(sizes, np.int64)
        return WordScores(states, self._linear("tag", states).argmax(axis=1), arcs, starts)

    @cached_property
    def _added(self) -> FloatArray:
        """The bias of attention by distance, for the longest sentence."""
        table = self._weights["relative.table.weight"]
        return table[relative_buckets(WIDEST, self.configuration.transformer.buckets)].transpose(2, 0, 1)

    def cores(
        self, words: WordScores, owner: IntArray, concept: IntArray, reason: IntArray, counts: FloatArray
    ) -> FloatArray:
        """Return the scores of candidates; `owner` is the word that each candidate belongs to."""
        hidden = self._linear("core_word", words.states)[owner]
        hidden += self._weights["core_concept.weight"][concept]
        hidden += self._weights["core_reason.weight"][reason]
        hidden += self._linear("core_counts", counts)
        np.maximum(hidden, 0, out=hidden)
        return self._linear("core_score", hidden)[:, 0]

    def templates(self, words: WordScores, owner: IntArray, concept: IntArray) -> FloatArray:
        """Return scores of templates for chosen cores."""
        hidden = self._linear("template_word", words.states[owner])
        hidden += self._weights["template_concept.weight"][concept]
        return self._linear("template", np.maximum(hidden, 0, out=hidden))

    def nodes(
        self,
        words: WordScores,
        token: IntArray,
        concept: IntArray,
        kind: IntArray,
        place: IntArray,
        roles: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Return the ends of relations (nodes, four parts), and the scores of nodes as roots."""
        above = words.tree @ words.states
        nodes = self._linear("node_word", words.states[token]) + self._linear("node_head", above[token])
        nodes += self._weights["node_concept.weight"][concept]
        nodes += self._weights["node_kind.weight"][kind * PLACES + place]
        nodes += self._linear("node_roles", roles)
        np.maximum(nodes, 0, out=nodes)
        return self._linear("ends", nodes), self._linear("root", nodes)[:, 0]

    def relations(
        self, words: WordScores, ends: FloatArray, token: IntArray, sources: IntArray, targets: IntArray
    ) -> FloatArray:
        """Return scores (pairs, labels) of relations between nodes."""
        source, target, one, other = np.split(ends, 4, axis=1)
        joint = one[sources] * other[targets]
        joint += source[sources]
        joint += target[targets]
        gaps = np.clip(token[targets] - token[sources], -(GAPS // 2), GAPS // 2) + GAPS // 2
        joint += self._weights["gap.weight"][gaps]
        joint += self._linear("tree", words.tree_features(token[sources], token[targets]))
        return self._linear("relation", np.maximum(joint, 0, out=joint))


def softmax(scores: FloatArray) -> FloatArray:
    """Return probabilities of each row."""
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    found: FloatArray = shares / shares.sum(axis=1, keepdims=True)
    return found
