"""How well two formulas align: their trees laid on each other, operands of sums in any order, names of variables aside.

`similarity` compares subtrees from the leaves upwards: two nodes that may stand for each other count what their labels
are worth, and what their operands are worth when laid on each other. Equal labels count 1, two variables of different
names a little less: a formula whose variables were renamed comes right behind the formula itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from mathamr.formulas.tree import Opt, Slt, Tree

VARIABLE, NUMBER, OPERAND = 0.6, 0.4, 0.25
"""What two variables, two numbers, and any two operands of different names are worth."""
LARGEST = 200
"""Nodes of a tree that is aligned; of a larger one the first, which stand highest, count."""
FEWEST = 2
"""Nodes of a part that two trees have in common."""
_OPERANDS = ("V!", "N!", "C!")
_MOST_PARTS = 400
"""Pairs of nodes that are tried as tops of parts, the best first."""

Trees = tuple[Opt | None, Slt | None]


class Met(NamedTuple):
    """A node of one tree laid on a node of the other, and what their labels are worth."""

    node: int
    other: int
    worth: float


@dataclass(frozen=True, slots=True)
class TreeAlignment:
    """The best way to lay two trees on each other.

    `overlap` is the share of both trees in the largest part they have in common; `spread` the share of the query that its
    parts have, wherever each stands; both from 0 to 1, and 1 for the same tree. `met` are the nodes of the largest common part.
    """

    overlap: float
    spread: float
    met: tuple[Met, ...]

    @property
    def score(self) -> float:
        """The mean of both."""
        return (self.overlap + self.spread) / 2


def similarity(query: Trees, found: Trees) -> float:
    """The mean score of the operator trees and of the layout trees; a tree that is not there counts nothing.

    >>> from mathamr.formulas.parse import parse
    >>> trees = [(parsed.opt, parsed.slt) for parsed in map(parse, ["a+b^2", "x+y^2", "a-b"])]
    >>> similarity(trees[0], trees[0])
    1.0
    >>> similarity(trees[0], trees[1]) > similarity(trees[0], trees[2])
    True
    """
    pairs = [(ours, theirs) for ours, theirs in zip(query, found, strict=True) if ours is not None]
    scores = [0.0 if theirs is None else sum(_shares(ours, theirs)[:2]) / 2 for ours, theirs in pairs]
    return sum(scores) / len(scores) if scores else 0.0


def align(query: Tree, found: Tree) -> TreeAlignment:
    """The alignment of two trees of one kind."""
    overlap, spread, worth, root = _shares(query, found)
    if not overlap:
        return TreeAlignment(0.0, spread, ())
    row = worth[root]
    top = max(row.values())
    other = min(number for number, value in row.items() if value == top)
    return TreeAlignment(overlap, spread, tuple(_met(query, found, worth, root, other)))


def parts(query: Tree, found: Tree) -> tuple[Met, ...]:
    """The nodes of all parts that two trees have in common, the largest part first, each node at most once.

    A part of one node says nothing where the query has more; a part that is not all of the query has `FEWEST`.

    >>> from mathamr.formulas.parse import parse
    >>> [len(parts(parse("a+b=c^2").slt, parse(latex).slt)) for latex in ("x=a+b", "c^2+1", "a+b=c^2")]
    [3, 2, 6]
    """
    worth = _shares(query, found)[2]
    pairs = sorted(
        (-value, node, other) for node, row in enumerate(worth) for other, value in row.items() if value >= 1
    )
    fewest = min(FEWEST, len(query))
    taken: set[int] = set()
    met: set[int] = set()
    chosen: list[Met] = []
    for _, node, other in pairs[:_MOST_PARTS]:
        if node in taken or other in met:
            continue
        part = [
            each
            for each in _met(query, found, worth, node, other)
            if each.node not in taken and each.other not in met
        ]
        if sum(each.worth >= VARIABLE for each in part) >= fewest:
            chosen += part
            taken |= {each.node for each in part}
            met |= {each.other for each in part}
    return tuple(chosen)


def _shares(query: Tree, found: Tree) -> tuple[float, float, list[dict[int, float]], int]:
    """(overlap, spread, what nodes are worth to each other, the node at the top of the largest common part)."""
    ours, theirs = min(len(query), LARGEST), min(len(found), LARGEST)
    worth = _worth(query, found, ours, theirs)
    tops = [max(row.values()) if row else 0.0 for row in worth]
    best = max(tops)
    # What else the other tree has counts against it, but less than in the overlap.
    spread = sum(tops) / _sum_of_sizes(query, ours) * (2 * ours / (ours + theirs)) ** 0.5
    return 2 * best / (ours + theirs), min(1.0, spread), worth, tops.index(best)


def _worth(query: Tree, found: Tree, ours: int, theirs: int) -> list[dict[int, float]]:
    """For every node of the query what each node of the other tree is worth that may stand for it."""
    nodes_of: dict[str, list[int]] = {}
    for number in range(theirs - 1, -1, -1):
        nodes_of.setdefault(found.labels[number], []).append(number)
    alike: dict[str, list[tuple[int, float]]] = {}
    query_below, found_below = _below(query), _below(found)
    worth: list[dict[int, float]] = [{} for _ in range(ours)]
    for node in range(ours - 1, -1, -1):
        label = query.labels[node]
        if label not in alike:
            alike[label] = [
                (number, value)
                for other, numbers in nodes_of.items()
                if (value := label_worth(label, other)) > 0
                for number in numbers
            ]
        row, operands = worth[node], [child for child in query_below[node] if child < ours]
        unordered = label.startswith("U!")
        for number, value in alike[label]:
            below = found_below[number]
            if operands and below:
                value += (
                    sum(pair.worth for pair in _matched(worth, operands, below))
                    if unordered
                    else sum(worth[a].get(b, 0.0) for a, b in _in_place(query, operands, found, below))
                )
            row[number] = value
    return worth


def _in_place(
    query: Tree, operands: Sequence[int], found: Tree, below: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Operands laid on those that hang on the same edges."""
    edges = found.edges
    at = {edges[number]: number for number in below}
    for node in operands:
        number = at.get(query.edges[node])
        if number is not None:
            yield node, number


def _matched(worth: Sequence[dict[int, float]], operands: Sequence[int], below: Sequence[int]) -> list[Met]:
    """Operands laid on operands in any order, the best pair first."""
    if len(operands) == len(below) == 1:
        value = worth[operands[0]].get(below[0], 0.0)
        return [Met(operands[0], below[0], value)] if value else []
    pairs = sorted(
        (-value, node, number)
        for node in operands
        for number in below
        if (value := worth[node].get(number, 0.0)) > 0
    )
    chosen: list[Met] = []
    taken: set[int] = set()
    met: set[int] = set()
    for value, node, number in pairs:
        if node not in taken and number not in met:
            taken.add(node)
            met.add(number)
            chosen.append(Met(node, number, -value))
    return chosen


def _met(query: Tree, found: Tree, worth: Sequence[dict[int, float]], root: int, other: int) -> list[Met]:
    """The nodes that the best alignment lays on each other, from its root downwards."""
    query_below, found_below = _below(query), _below(found)
    chosen: list[Met] = []
    waiting = [(root, other)]
    while waiting:
        node, number = waiting.pop()
        chosen.append(Met(node, number, label_worth(query.labels[node], found.labels[number])))
        operands = [child for child in query_below[node] if child < len(worth)]
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
    """What one label is worth in the place of another, from 0 to 1."""
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
    """The children of every node, those of the nodes that count."""
    return tuple(tuple(child for child in children if child < LARGEST) for children in tree.children())


@lru_cache(maxsize=4096)
def _sum_of_sizes(tree: Tree, nodes: int) -> int:
    """What a tree laid on itself is worth, summed over all its nodes."""
    return sum(min(size, nodes - node) for node, size in enumerate(tree.sizes()[:nodes]))
