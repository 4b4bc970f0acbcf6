"""Relation identification: estimates the probability of each relation between two nodes, and which node is the root."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from mathamr.amr.builtin.columns import PathColumns, WordColumns
from mathamr.amr.builtin.concepts import Draft
from mathamr.amr.builtin.features import (
    BOTH_FORM,
    CHILD_WORDS,
    CONCEPTS_FORM,
    HIDDEN_FORMULA,
    KINDS,
    NODE_CHILD_FORM,
    NODE_CHILD_WORD_FORM,
    NODE_FORMS,
    PATH_FORM,
    PATH_FORMS,
    SHORT_PATH,
    WordNode,
    bucket,
    distance,
    roles_of,
    type_of,
)
from mathamr.amr.builtin.featuresums import FeatureSums, FormSet
from mathamr.amr.builtin.frames import Frames
from mathamr.amr.builtin.lookup import Form, StringNumbers, places_of, ranges
from mathamr.amr.builtin.network import Weights, softmax
from mathamr.core.arrays import FloatArray, IntArray

SAME = "="
LEAST = 0.01
"""Edges less probable than this are ignored."""
_LEAST_LOGARITHM = math.log(LEAST)
MAX_PAIRS = 6000
NEAR = 12
MEMORY = 50_000
BLOCK = 4096
_FORMULA, _NAME, _PRONOUN = KINDS.index("formula"), KINDS.index("name"), KINDS.index("pronoun")


@dataclass
class RelationScores:
    """The probabilities of relations between ordered pairs of nodes of one draft, and a score of each node as root."""

    pairs: IntArray
    probabilities: FloatArray
    roots: FloatArray
    edges: list[tuple[float, int, int, int]]
    """Probability, source, target and label of every edge that is not improbable, most probable first."""
    mentions: list[tuple[float, int, int]]
    """Probability, node and the node it is the same as, in the same order."""

    @classmethod
    def of(
        cls, pairs: IntArray, probabilities: FloatArray, roots: FloatArray, labels: Sequence[str]
    ) -> RelationScores:
        """The scores of one draft."""
        return cls.cut(pairs, probabilities, roots, labels, [0, len(pairs)], [0, len(roots)])[0]

    @classmethod
    def cut(
        cls,
        pairs: IntArray,
        probabilities: FloatArray,
        roots: FloatArray,
        labels: Sequence[str],
        pair_bounds: Sequence[int],
        node_bounds: Sequence[int],
    ) -> list[RelationScores]:
        """Splits the scores of many drafts, whose pairs and nodes are concatenated."""
        likely = probabilities > LEAST
        same = labels.index(SAME) if SAME in labels else None
        mentions = places_of(likely[:, same]) if same is not None else np.zeros(0, np.int64)
        likely[:, [0] if same is None else [0, same]] = False
        found = []
        for rows, columns in (np.nonzero(likely), (mentions, np.full(len(mentions), same or 0))):
            values = probabilities[rows, columns]
            owners = np.searchsorted(pair_bounds, rows, side="right")
            order = np.lexsort((-values, owners))
            ends = pairs[rows[order]]
            cuts = np.searchsorted(owners[order], np.arange(1, len(pair_bounds) + 1)).tolist()
            listed = list(
                zip(
                    values[order].tolist(),
                    ends[:, 0].tolist(),
                    ends[:, 1].tolist(),
                    columns[order].tolist(),
                    strict=True,
                )
            )
            found.append([listed[a:b] for a, b in pairwise(cuts)])
        return [
            cls(pairs[a:b], probabilities[a:b], roots[c:d], edges, [each[:3] for each in same_ones])
            for (a, b), (c, d), edges, same_ones in zip(
                pairwise(pair_bounds), pairwise(node_bounds), *found, strict=True
            )
        ]


class NodeColumns:
    """The nodes of all drafts as arrays, one entry per node."""

    def __init__(self, drafts: Sequence[Draft], words: WordColumns, meanings: Meanings) -> None:
        sizes = np.array([len(draft.nodes) for draft in drafts], dtype=np.int64)
        self.size = int(sizes.sum())
        self.counts, self.firsts = sizes, np.cumsum(sizes) - sizes
        nodes = [node for draft in drafts for node in draft.nodes]
        rows = [meanings.row(node) for node in nodes]
        self.kind, self.concept, self.source, self.goal, self.roles = meanings.columns(rows)
        self.constant = np.array([node.constant for node in nodes], dtype=np.bool_)
        self.place = np.array([node.place for node in nodes], dtype=np.int64)
        tokens = np.array([node.token for node in nodes], dtype=np.int64)
        self.word: IntArray = tokens + np.repeat(words.starts, sizes)
        self.first: IntArray = np.repeat(self.firsts, sizes)
        self.siblings: IntArray = np.repeat(sizes, sizes)

    def pairs(self) -> tuple[IntArray, IntArray]:
        """All ordered pairs of nodes of the same draft; in a large draft only pairs that are close together."""
        inside = np.arange(self.size) - self.first
        window = np.where(self.siblings**2 <= MAX_PAIRS, self.siblings, NEAR)
        begin = np.maximum(0, inside - window)
        counts = np.minimum(self.siblings, inside + window + 1) - begin
        counts[self.constant | (self.kind == _NAME)] = 0
        sources = np.repeat(np.arange(self.size), counts)
        targets = ranges(begin + self.first, counts)
        fits = (self.kind[targets] != _NAME) & (self.word[sources] != self.word[targets])
        return sources[fits], targets[fits]


class Meanings:
    """The parts of features that depend on a concept, as numbers: its kind, its names as node, source and goal, and its roles."""

    def __init__(self, frames: Frames, strings: StringNumbers) -> None:
        self._frames, self._strings = frames, strings
        self._rows: dict[tuple[str, bool], int] = {}
        self._table: list[tuple[int, int, int, int, int]] = []
        self._columns: IntArray = np.zeros((5, 0), dtype=np.int64)

    def row(self, node: WordNode) -> int:
        """The row of a node's concept."""
        key = (node.concept, node.constant)
        found = self._rows.get(key)
        if found is None:
            kind, strings = type_of(node), self._strings
            general = strings[kind if kind in ("formula", "number") else node.concept]
            source = strings[kind if kind == "formula" else node.concept]
            roles = strings[roles_of(node, kind, self._frames)]
            found = self._rows[key] = len(self._table)
            self._table.append((KINDS.index(kind), general, source, general, roles))
        return found

    def columns(self, rows: list[int]) -> IntArray:
        """The numbers of concepts by their rows; clears the rows afterwards if there are too many."""
        known = self._columns.shape[1]
        if known < len(self._table):
            new = np.array(self._table[known:], dtype=np.int64).T
            self._columns = np.concatenate([self._columns, new], axis=1)
        result = self._columns[:, rows]
        if len(self._table) >= MEMORY:
            self._rows.clear()
            self._table.clear()
            self._columns = self._columns[:, :0]
        return result


class RelationModel:
    """Scores all pairs of nodes that are near each other in the dependency tree."""

    def __init__(self, weights: Weights, frames: Frames, strings: StringNumbers) -> None:
        arrays = weights.arrays
        self._strings, self._meanings = strings, Meanings(frames, strings)
        self._widths = [arrays[name].shape[1] for name in ("pair/source", "pair/target", "root/node")]
        vectors = np.concatenate([arrays["pair/source"], arrays["pair/target"], arrays["root/node"]], axis=1)
        self._nodes = FeatureSums(weights.bag("pair/source").vocabulary, vectors, strings)
        self._node_forms, self._child, self._child_word = (
            FormSet(self._nodes, forms) for forms in (NODE_FORMS, [NODE_CHILD_FORM], [NODE_CHILD_WORD_FORM])
        )
        self._pairs = FeatureSums(*weights.bag("pair/pair"), strings)
        on_path, gap = [PATH_FORM, *PATH_FORMS], BOTH_FORM.replace("sign", "gap")
        anywhere = [CONCEPTS_FORM, gap, BOTH_FORM]
        self._on_path, self._anywhere = FormSet(self._pairs, on_path), FormSet(self._pairs, anywhere)
        self._dense = np.concatenate(
            [arrays["pair/source_dense"], arrays["pair/target_dense"], arrays["root/dense"]], axis=1
        )
        self._bias = np.concatenate(
            [
                arrays["pair/source_dense/bias"],
                np.zeros(self._widths[1], np.float32),
                arrays["root/dense/bias"],
            ]
        )
        self._output, self._output_bias = arrays["pair/output"], arrays["pair/output/bias"]
        self._root_output = arrays["root/output"][:, 0]
        self.labels: list[str] = weights.table("relations", list)
        known = weights.table("paths", list)
        self._known_path = Form(PATH_FORM, dict.fromkeys(known, 1), strings, unknown=0)
        in_features = (
            text for text in self._pairs.vocabulary if text[0] in "^v" and "|" not in text and "#" not in text
        )
        self._is_feature = Form(PATH_FORM, dict.fromkeys(self._pairs.vocabulary, 1), strings, unknown=0)
        self._paths = PathColumns([*known, *in_features], strings)
        self._kind_names = np.array([strings[kind] for kind in KINDS], dtype=np.int64)
        self._kind_letters = np.array([strings[kind[0]] for kind in KINDS], dtype=np.int64)
        self._short_kinds = np.array([strings[kind[:4]] for kind in KINDS], dtype=np.int64)
        self._two_kinds = np.array(
            [[strings[one[:4] + other[:4]] for other in KINDS] for one in KINDS], dtype=np.int64
        )
        self._two_places = np.array([[strings[f"{a}{b}"] for b in range(3)] for a in range(3)])

    def score(self, drafts: Sequence[Draft], words: WordColumns) -> list[RelationScores]:
        """Scores for each draft; all drafts go through the network together."""
        nodes = NodeColumns(drafts, words, self._meanings)
        if not nodes.size:
            none = np.zeros((0, len(self.labels)), dtype=np.float32)
            no_pairs = np.zeros((0, 2), np.int64)
            return [RelationScores.of(no_pairs, none, none[:, 0], self.labels) for _ in drafts]
        described = self._describe(nodes, words)
        described += words.dense(nodes.word) @ self._dense + self._bias
        source_width, target_width, _ = self._widths
        roots: FloatArray = np.maximum(described[:, source_width + target_width :], 0.0) @ self._root_output
        sources, targets, parts = self._parts(nodes, words)
        from_sources = np.ascontiguousarray(described[:, :source_width])
        from_targets = np.ascontiguousarray(described[:, source_width : source_width + target_width])
        likely, probabilities = [np.zeros(0, np.int64)], [np.zeros((0, len(self.labels)), np.float32)]
        for begin in range(0, len(sources), BLOCK):
            part = slice(begin, begin + BLOCK)
            joint = self._joint({name: column[part] for name, column in parts.items()})
            for table, rows in ((from_sources, sources[part]), (from_targets, targets[part])):
                joint += table[rows]
            scores = np.maximum(joint, 0.0, out=joint) @ self._output
            scores += self._output_bias
            # A score so far below that of no relation is improbable whatever the other scores are.
            rows = places_of(scores[:, 1:].max(axis=1) > scores[:, 0] + _LEAST_LOGARITHM)
            likely.append(rows + begin)
            probabilities.append(softmax(scores[rows]))
        kept = np.concatenate(likely)
        sources, targets = sources[kept], targets[kept]
        pairs = np.stack([sources - nodes.first[sources], targets - nodes.first[targets]], axis=1)
        node_bounds = np.append(nodes.firsts, nodes.size)
        bounds = np.searchsorted(sources, node_bounds).tolist(), node_bounds.tolist()
        return RelationScores.cut(pairs, np.concatenate(probabilities), roots, self.labels, *bounds)

    def _describe(self, nodes: NodeColumns, words: WordColumns) -> FloatArray:
        """The sums of the features of every node, as a source, as a target and as a root, side by side."""
        strings, word, around = self._strings, nodes.word, words.around
        formula = nodes.kind == _FORMULA
        inner_or_root = np.array([strings["inner"], strings["root"]], dtype=np.int64)
        places = np.array([strings[str(place)] for place in range(4)], dtype=np.int64)
        parts = {
            "concept": nodes.concept,
            "kind": self._kind_names[nodes.kind],
            "tag": words.tag[word],
            "dep": words.dep[word],
            "lemma": np.where(formula, strings[HIDDEN_FORMULA], words.lemma[word]),
            "head_lemma": around["head_lemma"][word],
            "head_tag": around["head_tag"][word],
            "roles": nodes.roles,
            "place": places[np.minimum(nodes.place, 3)],
            "depth": self._written(bucket, words.depth[word]),
            "position": inner_or_root[words.root[word].astype(np.int64)],
        }
        result = self._node_forms.sums(parts)
        heads, kinds = words.child_kinds
        owners, entries = _under(word, heads)
        letters = self._kind_letters[nodes.kind]
        self._child.add(result, {"dep": kinds[entries], "letter": letters[owners]}, owners)
        children = words.children[words.among(words.dep[words.children], CHILD_WORDS)]
        owners, entries = _under(word, words.head[children])
        self._child_word.add(result, {"lemma": words.lemma[children[entries]]}, owners)
        return result

    def _joint(self, parts: Mapping[str, IntArray]) -> FloatArray:
        """The sums of the features of pairs; pairs without a known path have no features of paths."""
        result = self._anywhere.sums(parts)
        rows = places_of(self._is_feature(parts["path"]) == 1)
        result[rows] += self._on_path.sums({name: each[rows] for name, each in parts.items()})
        return result

    def _parts(
        self, nodes: NodeColumns, words: WordColumns
    ) -> tuple[IntArray, IntArray, dict[str, IntArray]]:
        """The pairs worth scoring, with the parts of their features in columns."""
        sources, targets = nodes.pairs()
        paths, lengths = self._paths.between(words, nodes.word[sources], nodes.word[targets])
        pronoun = nodes.kind == _PRONOUN
        worth = (lengths <= SHORT_PATH) | (self._known_path(paths) == 1) | pronoun[sources] | pronoun[targets]
        sources, targets, paths = sources[worth], targets[worth], paths[worth]
        one, other = nodes.kind[sources], nodes.kind[targets]
        both = self._two_kinds[one, other]
        concept, goal = nodes.source[sources], nodes.goal[targets]
        signs = np.where(concept == goal, self._strings["="], self._strings["!"])
        gaps = nodes.word[targets] - nodes.word[sources]
        parts = {
            "path": paths,
            "both": both,
            "concept": concept,
            "goal": goal,
            "gap": self._written(distance, gaps),
            "sign": signs,
            "roles": nodes.roles[sources],
            "other": self._short_kinds[other],
            "places": self._two_places[
                np.minimum(nodes.place[sources], 2), np.minimum(nodes.place[targets], 2)
            ],
        }
        return sources, targets, parts

    def _written(self, write: Callable[[int], str], values: IntArray) -> IntArray:
        """The string numbers of small integers written as text."""
        if not len(values):
            return values
        least = int(values.min())
        table = self._strings.numbers(write(value) for value in range(least, int(values.max()) + 1))
        return table[values - least]


def _under(words: IntArray, heads: IntArray) -> tuple[IntArray, IntArray]:
    """The entries of a table sorted by head that belong to each of some words, as two columns: owners and entries."""
    begin = np.searchsorted(heads, words)
    counts = np.searchsorted(heads, words, side="right") - begin
    return np.repeat(np.arange(len(words)), counts), ranges(begin, counts)
