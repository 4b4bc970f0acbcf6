"""Two formulas side by side: matched nodes have the same colour and number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mathamr.core.errors import MathAMRError
from mathamr.formulas.alignment import NodePair
from mathamr.formulas.label import node_type, value
from mathamr.formulas.picture import MAX_NODES, NodeMark, document, drawn
from mathamr.formulas.tree import Tree

COLOURS = (
    "#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#e07b00", "#17889c", "#c2429b", "#7a5c3e", "#5a6b00", "#444fbf",
)  # fmt: skip
"""Colours that differ on light and dark pages; numbers distinguish nodes of the same colour."""


class TreePair(NamedTuple):
    """Two trees of one kind, the query's and the found one's, and the matched nodes; `name` is the kind's."""

    name: str
    query: Tree
    found: Tree
    pairs: Sequence[NodePair]


def match_svg(pairs: Sequence[TreePair], title: str = "") -> str:
    """Return one SVG: a row for each kind of tree, the query's tree before the found one's; unmatched nodes are pale.

    Where a number or a name differs the frame is dashed, and pointing at a node shows its match and their worth.
    """
    rows = []
    types: set[str] = set()
    for pair in pairs:
        for tree in (pair.query, pair.found):
            if len(tree) > MAX_NODES:
                raise MathAMRError(f"{pair.name}: {len(tree)} nodes; a picture takes at most {MAX_NODES}")
            types |= {node_type(label) for label in tree.labels}
        ours, theirs = _marks(pair)
        rows.append(
            [
                (f"Your formula, {pair.name}", drawn(pair.query, ours)),
                (f"Found formula, {pair.name}", drawn(pair.found, theirs)),
            ]
        )
    return document(rows, sorted(types), title)


def _marks(pair: TreePair) -> tuple[dict[int, NodeMark], dict[int, NodeMark]]:
    """Return the marks of both trees; all nodes matched with one found node share its number, and it names the best of them."""
    ours: dict[int, NodeMark] = {}
    theirs: dict[int, NodeMark] = {}
    best: dict[int, float] = {}
    numbers: dict[int, int] = {}
    for each in sorted(pair.pairs, key=lambda matched: matched.node):
        number = numbers.setdefault(each.other, len(numbers) + 1)
        colour = COLOURS[(number - 1) % len(COLOURS)]
        label, other = pair.query.labels[each.node], pair.found.labels[each.other]
        differs = label != other
        ours[each.node] = NodeMark(colour, str(number), f"matched {value(other)}, {each.worth:.2f}", differs)
        if each.worth > best.get(each.other, -1.0):
            best[each.other] = each.worth
            theirs[each.other] = NodeMark(
                colour, str(number), f"matched {value(label)}, {each.worth:.2f}", differs
            )
    return ours, theirs
