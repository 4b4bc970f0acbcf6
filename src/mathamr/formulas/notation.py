"""Tangent strings, `[V!x[+[N!1]],a[N!2]]`: layout and operator trees as text, in and out."""

from __future__ import annotations

import re

from mathamr.core.errors import ParseError
from mathamr.formulas.tree import OPT_EDGES, SLT_EDGES, Opt, Slt, Tree

NEXT = "n"
_LABEL_END = re.compile(r"[\[\],]")


def to_string(tree: Tree) -> str:
    """Write the tree as a Tangent string: next follows directly, every other child after a comma and its edge.

    >>> to_string(Slt(("V!x", "+", "N!1", "N!2"), (-1, 0, 1, 0), "-nna"))
    '[V!x[+[N!1]],a[N!2]]'
    """
    bare = NEXT if isinstance(tree, Slt) else ""
    parts: list[str] = []
    open_nodes: list[int] = []
    for node, (label, parent, edge) in enumerate(zip(tree.labels, tree.parents, tree.edges, strict=True)):
        while open_nodes and open_nodes[-1] != parent:
            open_nodes.pop()
            parts.append("]")
        parts.append(f"[{label}" if edge == bare or not open_nodes else f",{edge}[{label}")
        open_nodes.append(node)
    parts.append("]" * len(open_nodes))
    return "".join(parts)


def slt_from_string(text: str, source: str = "") -> Slt:
    """Parse a Tangent string as a layout tree; `source` is named in the error of a bad string.

    >>> slt_from_string("[V!x,a[N!2]]").edges
    '-a'
    """
    return Slt(*_read(text, source, SLT_EDGES, has_next=True))


def opt_from_string(text: str, source: str = "") -> Opt:
    """Parse a Tangent string as an operator tree; `source` is named in the error of a bad string.

    >>> opt_from_string("[U!plus,0[V!𝑎],1[V!𝑏]]").labels
    ('U!plus', 'V!𝑎', 'V!𝑏')
    """
    return Opt(*_read(text, source, OPT_EDGES, has_next=False))


def _read(
    text: str, source: str, known_edges: str, *, has_next: bool
) -> tuple[tuple[str, ...], tuple[int, ...], str]:
    labels: list[str] = []
    parents: list[int] = []
    edges: list[str] = []
    open_nodes: list[int] = []
    used: set[tuple[int, str]] = set()
    offset, end = 0, len(text)
    edge = "-"
    while True:
        if offset >= end or text[offset] != "[":
            raise ParseError("a tree's node must begin with [", text, offset, source)
        stop = _LABEL_END.search(text, offset + 1)
        if stop is None:
            raise ParseError("this node is never closed with ]", text, offset, source)
        parent = open_nodes[-1] if open_nodes else -1
        if (parent, edge) in used:
            raise ParseError(f"a second child on edge {edge}", text, offset, source)
        used.add((parent, edge))
        parents.append(parent)
        open_nodes.append(len(labels))
        labels.append(text[offset + 1 : stop.start()])
        edges.append(edge)
        offset = stop.start()
        while open_nodes and offset < end and text[offset] == "]":
            open_nodes.pop()
            offset += 1
        if not open_nodes:
            if offset < end:
                raise ParseError("text after the tree's end", text, offset, source)
            return tuple(labels), tuple(parents), "".join(edges)
        if offset >= end:
            raise ParseError(f"{len(open_nodes)} nodes are not closed with ]", text, offset, source)
        if text[offset] == ",":
            edge = text[offset + 1 : offset + 2]
            if not edge or edge not in known_edges:
                raise ParseError(f"{edge!r} is not an edge here", text, offset + 1, source)
            offset += 2
        elif has_next:
            edge = NEXT
        else:
            raise ParseError("an operand must follow a comma and its number", text, offset, source)


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
