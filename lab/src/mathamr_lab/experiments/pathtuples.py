"""Path tuples of a tree, as Tangent-S and Tangent-CFT index them: two symbols and the path between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from mathamr.formulas.tree import Slt, Tree

MAX_PLAIN_PATH = 5
MAX_TUPLE_CHARACTERS = 200
_TUPLE_ORDER = {edge: place for place, edge in enumerate("aocnbudew")}
"""The order in which the published code visits the children of a layout node."""


class PathTuple(NamedTuple):
    """An ancestor, a descendant, the edges between them, and the edges from the root to the ancestor (`-`: none)."""

    ancestor: str
    descendant: str
    path: str
    location: str


def tuples(tree: Tree, window: int = 1) -> list[PathTuple]:
    """Return all tuples whose path has at most `window` edges (1: parents and children; Tangent-CFT uses 2).

    All operands of an unordered operator are on edge 0, as in Tangent-CFT. Paths longer than five edges are run-length
    coded, tuples longer than 200 characters left out, both as published.

    >>> from mathamr.formulas.notation import slt_from_string
    >>> [tuple(each) for each in tuples(slt_from_string("[V!x[+[N!1]],a[N!2]]"))]
    [('V!x', 'N!2', 'a', '-'), ('V!x', '+', 'n', '-'), ('+', 'N!1', 'n', 'n')]
    """
    labels, parents = tree.labels, tree.parents
    edges = list(tree.edges)
    children = tree.children()
    if isinstance(tree, Slt):
        for below in children:
            below.sort(key=lambda node: _TUPLE_ORDER[tree.edges[node]])
    else:
        for node in range(1, len(edges)):
            if labels[parents[node]].startswith("U!"):
                edges[node] = "0"
    locations = _Locations(edges, parents)
    found: list[PathTuple] = []
    stack = [0]
    while stack:
        node = stack.pop()
        path: list[str] = []
        ancestor = node
        while len(path) < window and parents[ancestor] >= 0:
            path.append(edges[ancestor])
            ancestor = parents[ancestor]
            coded = run_length_coded("".join(reversed(path)))
            _keep(found, labels[ancestor], labels[node], coded, locations[ancestor])
        stack.extend(reversed(children[node]))
    return found


def _keep(found: list[PathTuple], ancestor: str, descendant: str, path: str, location: str | None) -> None:
    if (
        location is None
        or len(ancestor) + len(descendant) + len(path) + len(location) + 3 > MAX_TUPLE_CHARACTERS
    ):
        return
    found.append(PathTuple(ancestor, descendant, path, location))


def run_length_coded(path: str) -> str:
    """Return a path of more than five edges with its runs counted.

    >>> run_length_coded("nnaann"), run_length_coded("nnn")
    ('2n2a2n', 'nnn')
    """
    if len(path) <= MAX_PLAIN_PATH:
        return path
    return "".join(f"{sum(1 for _ in run)}{edge}" for edge, run in groupby(path))


class _Locations:
    """The coded path from the root to each node, built from the parent's so that deep trees stay cheap.

    None marks a path that is too long for any tuple.
    """

    def __init__(self, edges: list[str], parents: tuple[int, ...]) -> None:
        self._plain: list[str] = [""]
        self._runs: list[tuple[str, int, str] | None] = [("", 0, "")]
        for node in range(1, len(edges)):
            plain, runs, edge = self._plain[parents[node]], self._runs[parents[node]], edges[node]
            self._plain.append(plain + edge if len(plain) <= MAX_PLAIN_PATH else plain)
            if runs is None:
                self._runs.append(None)
                continue
            before, count, last = runs
            if edge == last:
                self._runs.append((before, count + 1, last))
            else:
                before = f"{before}{count}{last}" if count else before
                self._runs.append((before, 1, edge) if len(before) <= MAX_TUPLE_CHARACTERS else None)

    def __getitem__(self, node: int) -> str | None:
        if len(self._plain[node]) <= MAX_PLAIN_PATH:
            return self._plain[node] or "-"
        runs = self._runs[node]
        return None if runs is None else f"{runs[0]}{runs[1]}{runs[2]}"


def tuple_f1(found: Tree, expected: Tree) -> float:
    """Return how many of the expected tree's tuples (window 1) the found tree has: F1 over multisets.

    A tree of one node has no tuples: such a pair counts 1 if the trees are equal, else 0.
    """
    ours, theirs = Counter(tuples(found)), Counter(tuples(expected))
    total = ours.total() + theirs.total()
    if not total:
        return float(found == expected)
    return 2 * (ours & theirs).total() / total


def mean_tuple_f1(pairs: Iterable[tuple[Tree | None, Tree]]) -> float:
    """Return the mean of `tuple_f1` over (found, expected); a formula without a tree counts 0."""
    scores = [0.0 if found is None else tuple_f1(found, expected) for found, expected in pairs]
    return sum(scores) / len(scores) if scores else 0.0
