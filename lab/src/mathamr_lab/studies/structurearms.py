"""The arms of the study `structure`: graphs with some of their structure taken away, all graphs of a shard at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from mathamr.core.arrays import AnyArray
from mathamr.core.errors import UnknownNameError
from mathamr.graphs import shard as shards
from mathamr.graphs.flatgraph import SENTENCE_EDGE, NodePart
from mathamr.graphs.shard import Shard
from mathamr.graphs.vocabulary import RelationVocabulary, Vocabulary

FULL = "full"
ARMS = {
    FULL: FULL,
    "bag": FULL,
    "one-relation": FULL,
    "rewired-25": FULL,
    "rewired-50": FULL,
    "rewired-100": FULL,
    "dependencies": "dependencies",
    "words": "words",
    "and": FULL,
    "latex": "latex",
    "roles": FULL,
    "transformer": FULL,
}
"""Arms, and the graphs that each is made from."""
VARIABLE, SYMBOL, BINDING = "V!*", "SYMBOL", ":binding"
_MEANING = (NodePart.CONCEPT, NodePart.CONSTANT, NodePart.FORMULA)


def shard_of(folder: Path, arm: str) -> Shard:
    """The graphs that an arm is made from; pairs of a post with itself, which only list the post, are left out."""
    if arm not in ARMS:
        raise UnknownNameError("arm", arm, list(ARMS))
    read = shards.load(folder / f"{ARMS[arm]}.npz")
    return replace(read, pairs=tuple(pair for pair in read.pairs if pair[0] != pair[1]))


def arranged(shard: Shard, arm: str, seed: int) -> Shard:
    """The graphs of an arm; rewired ones depend on the seed."""
    if arm == "bag":
        return _Edges(shard).bag()
    if arm == "one-relation":
        return _Edges(shard).one_relation()
    if arm.startswith("rewired-"):
        return _Edges(shard).rewired(int(arm.removeprefix("rewired-")) / 100, seed)
    if arm == "and":
        return _Edges(shard).under_and()
    return _Edges(shard).roles() if arm == "roles" else shard


class _Edges:
    """The edges of all graphs of a shard, with the graph of each and the parts of their ends."""

    def __init__(self, shard: Shard) -> None:
        self.shard = shard
        self.node_counts, edge_counts = (np.diff(shard.starts[name]) for name in ("nodes", "edges"))
        self.graph = np.repeat(np.arange(len(shard)), edge_counts)
        first = shard.starts["nodes"][self.graph]
        self.sources, self.targets, self.relations = (
            shard.columns[name].astype(np.int64) for name in ("sources", "targets", "relations")
        )
        parts = shard.columns["parts"]
        self.source_part, self.target_part = parts[first + self.sources], parts[first + self.targets]
        self.real = self.source_part != NodePart.VIRTUAL

    def _made(
        self,
        edges: tuple[AnyArray, AnyArray, AnyArray, AnyArray],
        nodes: tuple[AnyArray, AnyArray, AnyArray] | None = None,
        shard: Shard | None = None,
    ) -> Shard:
        """A shard with these edges (graph, source, target, relation) and further nodes (graph, label, part) behind its own."""
        shard = shard or self.shard
        columns, starts = dict(shard.columns), dict(shard.starts)
        if nodes is not None:
            owner = np.concatenate([np.repeat(np.arange(len(shard)), self.node_counts), nodes[0]])
            order = np.argsort(owner, kind="stable")
            columns["nodes"] = np.concatenate([columns["nodes"].astype(np.int64), nodes[1]])[order]
            columns["parts"] = np.concatenate([columns["parts"], nodes[2].astype(np.uint8)])[order]
            starts["nodes"] = _starts(owner, len(shard))
        graph, *ends = edges
        order = np.argsort(graph, kind="stable")
        for name, values in zip(("sources", "targets", "relations"), ends, strict=True):
            columns[name] = values[order]
        starts["edges"] = _starts(graph, len(shard))
        return replace(shard, columns=columns, starts=starts)

    def _chosen(self, kept: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray]:
        return self.graph[kept], self.sources[kept], self.targets[kept], self.relations[kept]

    def _sentences(self) -> tuple[AnyArray, AnyArray]:
        """For every node (over all graphs) the virtual node of its sentence, or -1; a constant has that of its concept."""
        first = self.shard.starts["nodes"]
        found = np.full(first[-1], -1, np.int64)
        of_sentence = self.relations == self.shard.relations.number(SENTENCE_EDGE)
        found[first[self.graph[of_sentence]] + self.targets[of_sentence]] = self.sources[of_sentence]
        constant = self.target_part == NodePart.CONSTANT
        ends = first[self.graph[constant]]
        found[ends + self.targets[constant]] = found[ends + self.sources[constant]]
        return found, constant

    def bag(self) -> Shard:
        """No edges but those of virtual nodes, which constants get, too."""
        found, constant = self._sentences()
        graph, targets = self.graph[constant], self.targets[constant]
        sentence = found[self.shard.starts["nodes"][graph] + targets]
        known = sentence >= 0
        added = (graph, sentence, targets, np.full(len(graph), self.shard.relations.number(SENTENCE_EDGE)))
        kept = self._chosen(~self.real)
        return self._made(_joined(kept, tuple(each[known] for each in added)))

    def one_relation(self) -> Shard:
        """All relations are one, but for those of virtual nodes."""
        relations = np.where(self.real, self.shard.relations.number(":ARG0"), self.relations)
        return self._made((self.graph, self.sources, self.targets, relations))

    def rewired(self, share: float, seed: int) -> Shard:
        """A share of the edges exchange their targets within the meaning, the operators or the layout of their graph; degrees are kept."""
        chance = np.random.default_rng([seed, 17])
        chosen = np.flatnonzero(self.real & (chance.random(len(self.real)) < share))
        part = np.where(np.isin(self.target_part, _MEANING), 0, self.target_part)[chosen]
        key = self.graph[chosen] * 8 + part
        there = chosen[np.argsort(key, kind="stable")]
        mixed = chosen[np.lexsort((chance.random(len(chosen)), key))]
        targets = self.targets.copy()
        targets[there] = self.targets[mixed]
        return self._made((self.graph, self.sources, targets, self.relations))

    def under_and(self) -> Shard:
        """The concepts of a sentence hang from one `and` instead of each other."""
        found, _ = self._sentences()
        first = self.shard.starts["nodes"]
        owner = np.repeat(np.arange(len(self.shard)), self.node_counts)
        members = np.flatnonzero(found >= 0)
        key = owner[members] * (int(self.node_counts.max()) + 1) + found[members]
        sentences, of = np.unique(key, return_inverse=True)
        graph = sentences // (int(self.node_counts.max()) + 1)
        new = self.node_counts[graph] + np.arange(len(graph)) - np.searchsorted(graph, graph)
        label = np.full(len(graph), self.shard.vocabulary.number("and", NodePart.CONCEPT))
        added = (
            owner[members],
            new[of],
            members - first[owner[members]],
            np.full(len(members), self.shard.relations.number(":op1")),
        )
        kept = self._chosen(~(self.real & np.isin(self.target_part, _MEANING)))
        return self._made(_joined(kept, added), (graph, label, np.full(len(graph), NodePart.CONCEPT)))

    def roles(self) -> Shard:
        """Variables without their letters; all occurrences of one in a post are bound to one node."""
        shard = self.shard
        labels = shard.vocabulary.labels
        is_variable = np.array([label.startswith("V!") for label in labels])
        nodes = shard.columns["nodes"].astype(np.int64)
        members = np.flatnonzero(is_variable[nodes])
        owner = np.repeat(np.arange(len(shard)), self.node_counts)
        symbols, of = np.unique(owner[members] * len(labels) + nodes[members], return_inverse=True)
        graph = symbols // len(labels)
        new = self.node_counts[graph] + np.arange(len(graph)) - np.searchsorted(graph, graph)
        local = members - shard.starts["nodes"][owner[members]]
        nodes[members] = len(labels)
        named = replace(
            shard,
            vocabulary=Vocabulary((*labels, VARIABLE, SYMBOL)),
            relations=RelationVocabulary((*shard.relations.relations, BINDING)),
            columns={**shard.columns, "nodes": nodes},
        )
        added = (owner[members], new[of], local, np.full(len(members), named.relations.number(BINDING)))
        kept = (self.graph, self.sources, self.targets, self.relations)
        more = (graph, np.full(len(graph), len(labels) + 1), np.full(len(graph), NodePart.OPT))
        return self._made(_joined(kept, added), more, named)


def _joined(
    one: tuple[AnyArray, ...], other: tuple[AnyArray, ...]
) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray]:
    graph, sources, targets, relations = (np.concatenate(each) for each in zip(one, other, strict=True))
    return graph, sources, targets, relations


def _starts(owner: AnyArray, count: int) -> AnyArray:
    return np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=count))]).astype(np.int64)
