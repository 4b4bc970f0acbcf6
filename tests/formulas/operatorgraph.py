"""Formula graphs: operator trees, node for node or with identical subtrees as one (Song and Chen; SSEmb, section 2.1.1)."""

from __future__ import annotations

from dataclasses import dataclass

from mathamr.formulas.tree import Opt, Tree


@dataclass(frozen=True, slots=True)
class FormulaGraph:
    """Labelled nodes and labelled arcs (source, edge, target); node 0 is the formula's root."""

    labels: tuple[str, ...]
    arcs: tuple[tuple[int, str, int], ...]

    def __len__(self) -> int:
        return len(self.labels)


def operator_graph(tree: Opt) -> FormulaGraph:
    """The operator graph: one node for all identical subtrees, an arc for every use.

    The operands of an unordered operator all hang on edge 0, and their order makes no difference between subtrees.

    >>> from mathamr.formulas.notation import opt_from_string
    >>> operator_graph(opt_from_string("[O!minus,0[U!times,0[V!a],1[V!b]],1[U!times,0[V!b],1[V!a]]]"))
    FormulaGraph(labels=('O!minus', 'U!times', 'V!a', 'V!b'), arcs=((0, '0', 1), (0, '1', 1), (1, '0', 2), (1, '0', 3)))
    """
    edges = _edges(tree)
    children = tree.children()
    numbers: dict[tuple[str, tuple[tuple[str, int], ...]], int] = {}
    shared = [0] * len(tree)
    for node in range(len(tree) - 1, -1, -1):
        below = [(edges[child], shared[child]) for child in children[node]]
        if tree.labels[node].startswith("U!"):
            below.sort()
        shared[node] = numbers.setdefault((tree.labels[node], tuple(below)), len(numbers))
    order: dict[int, int] = {}
    arcs: list[tuple[int, str, int]] = []
    labels: list[str] = []
    firsts: list[int] = []
    for node in range(len(tree)):
        if shared[node] not in order:
            order[shared[node]] = len(order)
            labels.append(tree.labels[node])
            firsts.append(node)
    for source, node in enumerate(firsts):
        arcs.extend((source, edges[child], order[shared[child]]) for child in children[node])
    return FormulaGraph(tuple(labels), tuple(arcs))


def formula_graph(tree: Tree) -> FormulaGraph:
    """The tree as a graph, node for node; the operands of an unordered operator all hang on edge 0."""
    edges = _edges(tree)
    return FormulaGraph(
        tree.labels, tuple((tree.parents[node], edges[node], node) for node in range(1, len(tree)))
    )


def _edges(tree: Tree) -> list[str]:
    """The tree's edges with the operands of unordered operators on edge 0."""
    return [
        "0" if parent >= 0 and tree.labels[parent].startswith("U!") else edge
        for parent, edge in zip(tree.parents, tree.edges, strict=True)
    ]
