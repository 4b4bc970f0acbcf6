r"""The open form of a formula: without the bounds of its big operators, its differentials and the arrows of its limits.

People leave these out when they type: `sum 1/n^2` means \sum_{n=1}^\infty \frac1{n^2}, whose open form is the same.
"""

from __future__ import annotations

from functools import lru_cache

from mathamr.core.listing import names
from mathamr.formulas.tree import OPT_EDGES, Opt

INTEGRALS = names("O!int O!double-integral O!triple-integral O!quadruple-integral O!contour-integral")
BIG_OPERATORS = INTEGRALS | names(
    """
    O!sum O!product O!coproduct O!limit O!limit-supremum O!limit-infimum O!supremum O!infimum O!direct-sum O!tensor-product
    O!projective-limit O!injective-limit O!direct-limit O!inverse-limit U!union U!intersect U!direct-sum U!and U!or F!max F!min
    """
)
"""The operators whose bounds can be left out."""
_BOUNDS = names("$!bvar $!lowlimit $!uplimit O!condition")
_DIFFERENTIAL = names("V!d V!𝑑")

_Node = tuple[str, list[int]]
"""A label and the numbers of the children."""


def has_big_operator(tree: Opt) -> bool:
    """Return True if a formula has an operator whose bounds can be left out."""
    return not BIG_OPERATORS.isdisjoint(tree.labels)


def omits(tree: Opt) -> bool:
    r"""Return True if a big operator of a formula has no bounds, or an integral no differential.

    >>> from mathamr.formulas.parse import parse
    >>> [omits(parse(latex, reading="mathematician").opt) for latex in (r"\sum a_n", r"\sum_n a_n", r"\int_0^1 f", r"\int_0^1 f dx", "a+b")]
    [True, False, True, False, False]
    """
    if not has_big_operator(tree):
        return False
    children, sizes = tree.children(), tree.sizes()
    for node, label in enumerate(tree.labels):
        if label not in BIG_OPERATORS:
            continue
        below = [tree.labels[child] for child in children[node]]
        if label in INTEGRALS:
            inside = tree.labels[node : node + sizes[node]]
            if below[1:] == ["W!", "W!"] or len(below) == 1 or _DIFFERENTIAL.isdisjoint(inside):
                return True
        elif _BOUNDS.isdisjoint(below) and (len(below) < 2 or label.startswith("O!")):
            return True
    return False


@lru_cache(maxsize=4096)
def open_form(tree: Opt) -> Opt:
    r"""Return a formula without the bounds of its big operators and without differentials.

    >>> from mathamr.formulas.parse import parse
    >>> def read(latex):
    ...     return open_form(parse(latex, reading="mathematician").opt)
    >>> read(r"\sum_{n=1}^\infty \frac1n") == read(r"\sum \frac1n"), read(r"\int_0^1 x^2\,dx") == read(r"\int x^2")
    (True, True)
    >>> read("a+b") == parse("a+b").opt
    True
    """
    if not has_big_operator(tree):
        return tree
    nodes: list[_Node] = [(label, below) for label, below in zip(tree.labels, tree.children(), strict=True)]
    in_integral = _below(tree, INTEGRALS)
    for place in range(len(nodes) - 1, -1, -1):  # children come before their parents
        label, below = nodes[place]
        if label in INTEGRALS:
            below = below[:1]
        elif label in BIG_OPERATORS:
            below = [child for child in below if nodes[child][0] not in _BOUNDS]
        elif label == "U!times":
            if in_integral[place]:
                below = _without_differentials(nodes, below)
            if below and len(below) > 1 and _is_bare(nodes[below[0]]):
                label, below = nodes[below[0]][0], _product(nodes, below[1:])
        if label == "U!times" and len(below) < 2:
            nodes[place] = nodes[below[0]] if below else ("N!1", [])
        else:
            nodes[place] = (label, below)
    return _flattened(nodes)


def _below(tree: Opt, labels: frozenset[str]) -> list[bool]:
    """Return a flag for each node: True if a node above it has one of the labels."""
    found = [False] * len(tree)
    for node in range(1, len(tree)):
        parent = tree.parents[node]
        found[node] = found[parent] or tree.labels[parent] in labels
    return found


def _without_differentials(nodes: list[_Node], operands: list[int]) -> list[int]:
    """Return the operands of a product without `dx`: a leaf `d` and the variable behind it."""
    kept: list[int] = []
    at = 0
    while at < len(operands):
        is_pair = at + 1 < len(operands) and nodes[operands[at + 1]][0].startswith("V!")
        if is_pair and nodes[operands[at]][0] in _DIFFERENTIAL:
            at += 2
        else:
            kept.append(operands[at])
            at += 1
    return kept


def _is_bare(node: _Node) -> bool:
    """Return True for an operator that is read as a factor, as in `\\sup f(x)`."""
    label, below = node
    return label in BIG_OPERATORS and not below


def _product(nodes: list[_Node], operands: list[int]) -> list[int]:
    """Return some operands as one: a product of them, if there are several."""
    if len(operands) == 1:
        return operands
    nodes.append(("U!times", operands))
    return [len(nodes) - 1]


def _flattened(nodes: list[_Node]) -> Opt:
    labels: list[str] = []
    parents: list[int] = []
    edges: list[str] = []
    waiting = [(0, -1, "-")]
    while waiting:
        place, parent, edge = waiting.pop()
        label, below = nodes[place]
        own = len(labels)
        labels.append(label)
        parents.append(parent)
        edges.append(edge)
        waiting += [
            (child, own, OPT_EDGES[min(number, len(OPT_EDGES) - 1)]) for number, child in enumerate(below)
        ][::-1]
    return Opt(tuple(labels), tuple(parents), "".join(edges))
