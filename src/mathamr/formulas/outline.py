"""Trees as indented text, for reading in a terminal."""

from __future__ import annotations

from mathamr.formulas.tree import Slt, Tree

RELATIONS = {
    "n": "next", "a": "above", "b": "below", "o": "over", "u": "under", "c": "before, above", "d": "before, below",
    "w": "within", "e": "element",
}  # fmt: skip
"""The edges of a layout tree in words."""


def outline(tree: Tree) -> list[str]:
    """Return one line per node; in a layout tree the symbols of one base line are at the same depth.

    >>> from mathamr.formulas.parse import parse
    >>> print("\\n".join(outline(parse("x^2+1").slt)))
    V!x
    ├─ above: N!2
    +
    N!1
    >>> print("\\n".join(outline(parse("x+1").opt)))
    U!plus
    ├─ 0: V!𝑥
    └─ 1: N!1
    """
    layout = isinstance(tree, Slt)
    children = tree.children()
    lines: list[str] = []
    stack = [(0, "", "", "")]
    while stack:
        node, first, rest, relation = stack.pop()
        lines.append(f"{first}{relation}{tree.labels[node]}")
        following = [child for child in children[node] if layout and tree.edges[child] == "n"]
        hanging = [child for child in children[node] if not (layout and tree.edges[child] == "n")]
        stack.extend((child, rest, rest, "") for child in following)
        for child in reversed(hanging):
            last = child == hanging[-1] and not following
            edge = tree.edges[child]
            relation = f"{RELATIONS.get(edge, edge) if layout else edge}: "
            stack.append(
                (child, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  "), relation)
            )
    return lines
