"""The parser's models the slow way: features written out as strings, word by word and pair by pair."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from mathamr.amr.builtin.concepts import Draft, context
from mathamr.amr.builtin.features import (
    Paths,
    WordNode,
    core_features,
    neighbour_features,
    node_features,
    pair_features,
    roles_of,
    template_features,
    type_of,
    word_features,
    worth_scoring,
)
from mathamr.amr.builtin.frames import Frames
from mathamr.amr.builtin.lexicon import Lexicon
from mathamr.amr.builtin.network import Weights, softmax
from mathamr.amr.builtin.relations import MAX_PAIRS, NEAR
from mathamr.amr.builtin.syntax import SyntaxSentence
from mathamr.core.arrays import FloatArray


class StringModels:
    """Scores of cores, templates, pairs and roots of one sentence."""

    def __init__(self, weights: Weights, lexicon: Lexicon, frames: Frames) -> None:
        self.arrays, self.lexicon, self.frames = weights.arrays, lexicon, frames
        names = ("core/word", "core/core", "core/detail", "template/word", "pair/source", "pair/pair")
        self._numbers = {name: weights.bag(name).vocabulary for name in names}
        self.paths = frozenset(weights.table("paths", list))

    def _sum(self, vocabulary: str, features: Iterable[str], vectors: str = "") -> FloatArray:
        numbers = [self._numbers[vocabulary].get(feature) for feature in features]
        known = [number for number in numbers if number is not None]
        return np.asarray(self.arrays[vectors or vocabulary][known].sum(axis=0), dtype=np.float32)

    def cores(self, sentence: SyntaxSentence, token: int) -> FloatArray:
        """The scores of a word's candidates."""
        arrays = self.arrays
        hidden = self._sum("core/word", word_features(sentence, token))
        hidden = hidden + context(sentence)[token] @ arrays["core/dense"] + arrays["core/dense/bias"]
        scores = []
        for candidate in self.lexicon.candidates(sentence, token):
            vectors, details = core_features(sentence, token, candidate)
            details = details + neighbour_features(sentence, token, candidate)
            both = np.maximum(hidden + self._sum("core/core", vectors), 0.0)
            scores.append(float((both @ arrays["core/output"] + self._sum("core/detail", details))[0]))
        return np.array(scores, dtype=np.float32)

    def templates(self, sentence: SyntaxSentence, token: int, core: str) -> FloatArray:
        """The scores of all templates for a core."""
        arrays = self.arrays
        features = template_features(word_features(sentence, token), sentence.tags[token], core)
        hidden = self._sum("template/word", features) + context(sentence)[token] @ arrays["template/dense"]
        scores: FloatArray = (
            np.maximum(hidden + arrays["template/dense/bias"], 0.0) @ arrays["template/output"]
        )
        return scores + arrays["template/output/bias"]

    def pairs(self, draft: Draft) -> list[tuple[int, int]]:
        """The pairs that are worth scoring."""
        nodes, paths = draft.nodes, Paths(draft.sentence)
        kinds = [type_of(node) for node in nodes]
        window = len(nodes) if len(nodes) ** 2 <= MAX_PAIRS else NEAR
        found = []
        for i, source in enumerate(nodes):
            for j in range(max(0, i - window), min(len(nodes), i + window + 1)):
                if source.constant or "name" in (kinds[i], kinds[j]) or source.token == nodes[j].token:
                    continue
                path, length = paths.between(source.token, nodes[j].token)
                if worth_scoring(path, length, kinds[i], kinds[j], self.paths):
                    found.append((i, j))
        return found

    def relations(self, draft: Draft, pairs: Sequence[Sequence[int]]) -> FloatArray:
        """The probabilities of all labels for pairs of nodes."""
        arrays, nodes, sentence = self.arrays, draft.nodes, draft.sentence
        paths, inputs = Paths(sentence), context(sentence)
        rows = [np.zeros((0, arrays["pair/output"].shape[1]), dtype=np.float32)]
        for i, j in pairs:
            kinds = type_of(nodes[i]), type_of(nodes[j])
            path, _ = paths.between(nodes[i].token, nodes[j].token)
            roles = roles_of(nodes[i], kinds[0], self.frames)
            joint = self._sum("pair/pair", pair_features(sentence, nodes[i], nodes[j], kinds, path, roles))
            joint = joint + self._node(draft, i, "pair/source") + self._node(draft, j, "pair/target")
            joint = joint + inputs[nodes[i].token] @ arrays["pair/source_dense"]
            joint = joint + inputs[nodes[j].token] @ arrays["pair/target_dense"]
            joint = np.maximum(joint + arrays["pair/source_dense/bias"], 0.0)
            rows.append(softmax((joint @ arrays["pair/output"] + arrays["pair/output/bias"])[None]))
        return np.concatenate(rows)

    def roots(self, draft: Draft) -> FloatArray:
        """The scores of all nodes as root."""
        arrays, inputs = self.arrays, context(draft.sentence)
        made = []
        for number, node in enumerate(draft.nodes):
            hidden = self._node(draft, number, "root/node") + inputs[node.token] @ arrays["root/dense"]
            made.append((np.maximum(hidden + arrays["root/dense/bias"], 0.0) @ arrays["root/output"])[0])
        return np.array(made, dtype=np.float32)

    def _node(self, draft: Draft, number: int, vectors: str) -> FloatArray:
        nodes: list[WordNode] = draft.nodes
        return self._sum("pair/source", node_features(draft.sentence, nodes, number, self.frames), vectors)
