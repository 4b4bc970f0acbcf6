"""Alignment of two formula trees: operands of sums match in any order, and variables may have different names.

`similarity` compares subtrees from the leaves upwards. A pair of nodes scores what their labels are worth plus the best
pairing of their operands. Equal labels are worth 1 and two different variables a little less, so that alpha-equivalent
formulas rank directly after exact matches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeVar

from mathamr.core.cancellation import check_cancelled
from mathamr.formulas.tree import Opt, Slt, Tree

VARIABLE, NUMBER, OPERAND = 0.6, 0.4, 0.25
"""The worth of two different variables, two different numbers, and operands of different types."""
LARGEST = 200
"""The number of nodes of a tree that are aligned; of a larger tree the first ones count, which are nearest to the root."""
FEWEST = 2
"""The fewest nodes of a common part."""
_OPERANDS = ("V!", "N!", "C!")
_MOST_PARTS = 400
"""The number of pairs of nodes that are tried as roots of common parts, the best first."""

Trees = tuple[Opt | None, Slt | None]
T = TypeVar("T", bound=Tree)


class NodePair(NamedTuple):
    """A node of the query matched with a node of the other tree, and what their labels are worth."""

    node: int
    other: int
    worth: float


@dataclass(frozen=True, slots=True)
class TreeAlignment:
    """The best alignment of two trees.

    `overlap` is the share of both trees in their largest common part; `spread` is the share of the query that is found
    anywhere in the other tree. Both are between 0 and 1, and 1 for equal trees. `pairs` are the matched nodes of the
    largest common part.
    """

    overlap: float
    spread: float
    pairs: tuple[NodePair, ...]

    @property
    def score(self) -> float:
        """The mean of `overlap` and `spread`."""
        return (self.overlap + self.spread) / 2


def similarity(query: Trees, found: Trees) -> float:
    """Return the mean score of the operator trees and the layout trees; a missing tree scores 0.

    >>> from mathamr.formulas.parse import parse
    >>> trees = [(parsed.opt, parsed.slt) for parsed in map(parse, ["a+b^2", "x+y^2", "a-b"])]
    >>> similarity(trees[0], trees[0])
    1.0
    >>> similarity(trees[0], trees[1]) > similarity(trees[0], trees[2])
    True
    """
    pairs = [(ours, theirs) for ours, theirs in zip(query, found, strict=True) if ours is not None]
    scores = [
        0.0 if theirs is None else sum(_shares(first_nodes(ours), first_nodes(theirs))[:2]) / 2
        for ours, theirs in pairs
    ]
    return sum(scores) / len(scores) if scores else 0.0


def work(query: Trees, found: Trees) -> int:
    """Return the number of pairs of nodes that `similarity` compares: at most `LARGEST` squared for each kind of tree."""
    return sum(
        min(len(ours), LARGEST) * min(len(theirs), LARGEST)
        for ours, theirs in zip(query, found, strict=True)
        if ours is not None and theirs is not None
    )


def align(query: Tree, found: Tree) -> TreeAlignment:
    """Return the alignment of two trees of one kind."""
    query, found = first_nodes(query), first_nodes(found)
    overlap, spread, worth, root = _shares(query, found)
    if not overlap:
        return TreeAlignment(0.0, spread, ())
    row = worth[root]
    top = max(row.values())
    other = min(number for number, value in row.items() if value == top)
    return TreeAlignment(overlap, spread, tuple(_pairs_below(query, found, worth, root, other)))


def parts(query: Tree, found: Tree) -> tuple[NodePair, ...]:
    """Return the matched nodes of all common parts of two trees, the largest part first, each node at most once.

    A part has at least `FEWEST` nodes, unless the whole query is smaller.

    >>> from mathamr.formulas.parse import parse
    >>> [len(parts(parse("a+b=c^2").slt, parse(latex).slt)) for latex in ("x=a+b", "c^2+1", "a+b=c^2")]
    [3, 2, 6]
    """
    query, found = first_nodes(query), first_nodes(found)
    worth = _shares(query, found)[2]
    pairs = sorted(
        (-value, node, other) for node, row in enumerate(worth) for other, value in row.items() if value >= 1
    )
    fewest = min(FEWEST, len(query))
    taken: set[int] = set()
    matched: set[int] = set()
    chosen: list[NodePair] = []
    for _, node, other in pairs[:_MOST_PARTS]:
        if node in taken or other in matched:
            continue
        part = [
            each
            for each in _pairs_below(query, found, worth, node, other)
            if each.node not in taken and each.other not in matched
        ]
        if sum(each.worth >= VARIABLE for each in part) >= fewest:
            chosen += part
            taken |= {each.node for each in part}
            matched |= {each.other for each in part}
    return tuple(chosen)


def first_nodes(tree: T) -> T:
    """Return the first `LARGEST` nodes of a tree, which are a tree themselves: all that is aligned of a larger one."""
    if len(tree) <= LARGEST:
        return tree
    return type(tree)(tree.labels[:LARGEST], tree.parents[:LARGEST], tree.edges[:LARGEST])


def _shares(query: Tree, found: Tree) -> tuple[float, float, list[dict[int, float]], int]:
    """Return overlap, spread, the worth of each pair of nodes, and the root of the largest common part in the query."""
    check_cancelled()
    ours, theirs = len(query), len(found)
    worth = _worth(query, found)
    tops = [max(row.values()) if row else 0.0 for row in worth]
    best = max(tops)
    # Nodes that only the other tree has count against it, but less than in the overlap.
    spread = sum(tops) / _sum_of_sizes(query) * (2 * ours / (ours + theirs)) ** 0.5
    return 2 * best / (ours + theirs), min(1.0, spread), worth, tops.index(best)


def _worth(query: Tree, found: Tree) -> list[dict[int, float]]:
    """Return, for every node of the query, the worth of each node of the other tree that matches it."""
    labels, edges, others, other_edges = query.labels, query.edges, found.labels, found.edges
    nodes_of: dict[str, list[int]] = {}
    for number in range(len(others) - 1, -1, -1):
        nodes_of.setdefault(others[number], []).append(number)
    other_operands = [label for label in nodes_of if label[:2] in _OPERANDS]
    alike: dict[str, list[tuple[int, float]]] = {}
    query_below, found_below = _below(query), _below(found)
    worth: list[dict[int, float]] = [{} for _ in labels]
    for node in range(len(labels) - 1, -1, -1):
        label = labels[node]
        if label not in alike:
            candidates = other_operands if label[:2] in _OPERANDS else (label,)
            alike[label] = [
                (number, value)
                for other in candidates
                if other in nodes_of
                for value in (label_worth(label, other),)
                for number in nodes_of[other]
            ]
        row, operands = worth[node], query_below[node]
        if not operands:
            row.update(alike[label])
            continue
        unordered = label.startswith("U!")
        rows = [(worth[operand], edges[operand]) for operand in operands]
        for number, value in alike[label]:
            below = found_below[number]
            if not below:
                row[number] = value
            elif unordered:
                row[number] = value + sum(pair.worth for pair in _matched(worth, operands, below))
            else:
                total = 0.0
                for own, edge in rows:
                    # As `_in_place`: of several nodes on one edge, the last.
                    for other in reversed(below):
                        if other_edges[other] == edge:
                            total += own.get(other, 0.0)
                            break
                row[number] = value + total
    return worth


def _in_place(
    query: Tree, operands: Sequence[int], found: Tree, below: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Yield pairs of operands on the same edges."""
    edges = found.edges
    at = {edges[number]: number for number in below}
    for node in operands:
        number = at.get(query.edges[node])
        if number is not None:
            yield node, number


def _matched(
    worth: Sequence[dict[int, float]], operands: Sequence[int], below: Sequence[int]
) -> list[NodePair]:
    """Return pairs of operands in any order, chosen greedily by worth."""
    if len(operands) == len(below) == 1:
        value = worth[operands[0]].get(below[0], 0.0)
        return [NodePair(operands[0], below[0], value)] if value else []
    pairs = sorted(
        (-value, node, number)
        for node in operands
        for number in below
        if (value := worth[node].get(number, 0.0)) > 0
    )
    chosen: list[NodePair] = []
    taken: set[int] = set()
    matched: set[int] = set()
    for value, node, number in pairs:
        if node not in taken and number not in matched:
            taken.add(node)
            matched.add(number)
            chosen.append(NodePair(node, number, -value))
    return chosen


def _pairs_below(
    query: Tree, found: Tree, worth: Sequence[dict[int, float]], root: int, other: int
) -> list[NodePair]:
    """Return the matched nodes of the best alignment below a pair of roots."""
    query_below, found_below = _below(query), _below(found)
    chosen: list[NodePair] = []
    waiting = [(root, other)]
    while waiting:
        node, number = waiting.pop()
        chosen.append(NodePair(node, number, label_worth(query.labels[node], found.labels[number])))
        operands = query_below[node]
        if query.labels[node].startswith("U!"):
            waiting += [(pair.node, pair.other) for pair in _matched(worth, operands, found_below[number])]
        else:
            waiting += [
                (a, b)
                for a, b in _in_place(query, operands, found, found_below[number])
                if worth[a].get(b, 0.0) > 0
            ]
    return sorted(chosen)


def label_worth(label: str, other: str) -> float:
    """Return the worth of one label matched with another, from 0 to 1."""
    if label == other:
        return 1.0
    kind, others = label[:2], other[:2]
    if kind not in _OPERANDS or others not in _OPERANDS:
        return 0.0
    if kind == others:
        return VARIABLE if kind == "V!" else NUMBER if kind == "N!" else OPERAND
    return OPERAND


@lru_cache(maxsize=4096)
def _below(tree: Tree) -> tuple[tuple[int, ...], ...]:
    """Return the children of every node."""
    return tuple(map(tuple, tree.children()))


@lru_cache(maxsize=4096)
def _sum_of_sizes(tree: Tree) -> int:
    """Return the worth of a tree aligned with itself, summed over all its nodes."""
    return sum(tree.sizes())
