"""Pictures of formula trees: one SVG with the layout tree and the operator tree.

The layout tree is drawn like the formula: the base line runs to the right, scripts are above and below. The operator
tree hangs from its root. It contains only shapes, text and fixed colours that suit light and dark pages: no script, style or font.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from mathamr.core.drawing import document as svg_document
from mathamr.core.drawing import escaped, shape, text, text_width
from mathamr.core.errors import MathAMRError
from mathamr.formulas.alignment import NodePair
from mathamr.formulas.label import TYPES, node_type, value
from mathamr.formulas.notation import RELATIONS
from mathamr.formulas.tree import Opt, Slt, Tree

MAX_NODES = 2000
"""The maximum number of nodes that a person can read and a page should draw."""

_COLOURS = {
    "N": "#ffe0a3",
    "V": "#bfe3c0",
    "F": "#c9d8ff",
    "C": "#f6d0e6",
    "T": "#e6e0d4",
    "O": "#b8dcf2",
    "U": "#a9d6d0",
    "+": "#d5c8f2",
    "M": "#f2cdb8",
    "E": "#f2a9a9",
    "W": "#e3e3e3",
    "-": "#e3e3e3",
    "$": "#e3e3e3",
    "?": "#fff0a0",
    "": "#d9dee6",
}
_INK, _LINE, _CAPTION = "#1d2430", "#8a929e", "#7b8490"
_FONT = "system-ui, 'Segoe UI', 'Helvetica Neue', 'Noto Sans Math', 'DejaVu Sans', sans-serif"
_HEIGHT, _GAP, _ROW, _MARGIN = 26.0, 30.0, 34.0, 20.0
_UP, _DOWN = "aoc", "budw"
_MAX_WIDTH_SIDE_BY_SIDE = 1400.0
_ESCAPES = (
    ("&comma;", ","),
    ("&lsqb;", "["),
    ("&rsqb;", "]"),
    ("&quest;", "?"),
    ("D-lsqb;", "D-["),
    ("R!", "row"),
)


@dataclass(slots=True)
class TreeDrawing:
    """The shapes of one tree, with its corner at (0, 0), and their size."""

    width: float
    height: float
    shapes: list[str] = field(default_factory=list)


class NodeMark(NamedTuple):
    """How a node is highlighted: the colour of its frame, the text at its corner, and its tooltip."""

    colour: str
    badge: str
    said: str
    dashed: bool = False


Marks = Mapping[int, NodeMark]
"""Highlighted nodes; if there are any, all other nodes are pale."""


def svg(slt: Slt | None, opt: Opt | None, latex: str = "") -> str:
    """Return the trees of one formula as an SVG document; a tree that is None is left out.

    >>> svg(Slt(("V!x", "N!2"), (-1, 0), "-a"), None, "x^2").startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    True
    """
    trees: list[tuple[str, Tree]] = []
    if slt is not None:
        trees.append(("Symbol layout tree", slt))
    if opt is not None:
        trees.append(("Operator tree", opt))
    for title, tree in trees:
        if len(tree) > MAX_NODES:
            raise MathAMRError(f"{title} of {len(tree)} nodes; a picture takes at most {MAX_NODES}")
    drawings = [(title, drawn(tree)) for title, tree in trees]
    return document(
        [drawings], sorted({node_type(label) for _, tree in trees for label in tree.labels}), latex
    )


def drawn(tree: Tree, marks: Marks | None = None) -> TreeDrawing:
    """Return a tree of either kind, with marks on some of its nodes."""
    return _layout_drawing(tree, marks) if isinstance(tree, Slt) else _operator_drawing(tree, marks)


def document(rows: Sequence[Sequence[tuple[str, TreeDrawing]]], types: Sequence[str], latex: str) -> str:
    """Arrange rows of drawings under their titles, side by side if there is space, with a legend of node types."""
    shapes: list[str] = []
    y, width = _MARGIN, 0.0
    if latex:
        shapes.append(text(_MARGIN, y + 12, _shortened(latex, 110), 14, _CAPTION, "start"))
        width, y = text_width(_shortened(latex, 110), 14), y + 34
    for row in rows:
        taken, height = _placed(row, y, shapes)
        width, y = max(width, taken), y + height + _GAP
    legend = _legend(types, y, max(width, 420.0))
    shapes.extend(legend.shapes)
    width = max(width, legend.width) + 2 * _MARGIN
    height = y + legend.height + _MARGIN
    return svg_document(width, height, latex or "formula", *shapes, font_family=_FONT)


def _placed(row: Sequence[tuple[str, TreeDrawing]], top: float, shapes: list[str]) -> tuple[float, float]:
    """Put the drawings of a row into a picture and return their size."""
    beside = sum(drawing.width for _, drawing in row) <= _MAX_WIDTH_SIDE_BY_SIDE
    x, y, width, height = _MARGIN, top, 0.0, 0.0
    for title, drawing in row:
        shapes.append(text(x, y + 12, title, 13, _CAPTION, "start", bold=True))
        shapes.append(shape("g", *drawing.shapes, transform=f"translate({x:.1f} {y + 28:.1f})"))
        taken = max(drawing.width, text_width(title, 13))
        if beside:
            x += taken + 2 * _GAP
            width, height = x - _MARGIN - 2 * _GAP, max(height, 28 + drawing.height)
        else:
            y += 28 + drawing.height + _GAP
            width, height = max(width, taken), y - _GAP - top
    return width, height


def _layout_drawing(tree: Slt, marks: Marks | None) -> TreeDrawing:
    """Return the layout tree with its base lines from left to right.

    Space is measured from the last node to the first: what is above and below a symbol, then what follows
    on its base line (`n`) and after that the next part of a group (`e`). Then positions are assigned from the root on.
    """
    count = len(tree)
    boxes = [_box_width(label) for label in tree.labels]
    below = _by_edge(tree)
    own, full, ascent, descent = ([0.0] * count for _ in range(4))
    for node in range(count - 1, -1, -1):
        up, down = _hanging(below[node], _UP), _hanging(below[node], _DOWN)
        shift = boxes[node] / 2 + 6
        own[node] = max(boxes[node], *(shift + _row_width(row, full) for row in (up, down) if row), 0)
        rises = [_ROW + _HEIGHT + descent[child] + ascent[child] for child in up]
        falls = [_ROW + _HEIGHT + ascent[child] + descent[child] for child in down]
        full[node], ascent[node], descent[node] = own[node], max(rises, default=0.0), max(falls, default=0.0)
        for edge in "ne":
            if edge in below[node]:
                child = below[node][edge]
                full[node] += _GAP + full[child]
                ascent[node] = max(ascent[node], ascent[child])
                descent[node] = max(descent[node], descent[child])
    x, y = [0.0] * count, [0.0] * count
    y[0] = ascent[0]
    for node in range(count):
        up, down = _hanging(below[node], _UP), _hanging(below[node], _DOWN)
        rise = _ROW + _HEIGHT + max((descent[child] for child in up), default=0.0)
        fall = _ROW + _HEIGHT + max((ascent[child] for child in down), default=0.0)
        for row, offset in ((up, -rise), (down, fall)):
            left = x[node] + boxes[node] / 2 + 6
            for child in row:
                x[child], y[child] = left, y[node] + offset
                left += full[child] + _GAP
        left = x[node] + own[node] + _GAP
        for edge in "ne":
            if edge in below[node]:
                child = below[node][edge]
                x[child], y[child] = left, y[node]
                left += full[child] + _GAP
    lines = [_layout_edge(tree, node, boxes, x, y) for node in range(1, count)]
    return TreeDrawing(full[0], ascent[0] + _HEIGHT + descent[0], lines + _boxes(tree, boxes, x, y, marks))


def _layout_edge(tree: Slt, node: int, boxes: list[float], x: list[float], y: list[float]) -> str:
    parent, edge = tree.parents[node], tree.edges[node]
    middle = _HEIGHT / 2
    if edge == "n":
        start, end, level = x[parent] + boxes[parent], x[node], y[node] + middle
        return _line(start, level, end, level) + _edge_label(end - _GAP / 2, level - 4, edge, RELATIONS[edge])
    if edge == "e":
        start, end, level = x[parent] + boxes[parent] / 2, x[node] + boxes[node] / 2, y[node] + _HEIGHT
        curve = f"M{start:.1f} {level:.1f}C{start:.1f} {level + 16:.1f} {end:.1f} {level + 16:.1f} {end:.1f} {level:.1f}"
        path = shape("path", d=curve, fill="none", stroke=_LINE, stroke_width=1.2, stroke_dasharray="4 3")
        return path + _edge_label((start + end) / 2, level + 22, edge, RELATIONS[edge])
    start, end = x[parent] + boxes[parent] / 2, x[node] + min(boxes[node] / 2, 16.0)
    top, bottom = (y[node] + _HEIGHT, y[parent]) if y[node] < y[parent] else (y[node], y[parent] + _HEIGHT)
    beside, level = (start + end) / 2 - 9, (top + bottom) / 2 + 4
    return _line(start, bottom, end, top) + _edge_label(beside, level, edge, RELATIONS[edge])


def _operator_drawing(tree: Tree, marks: Marks | None) -> TreeDrawing:
    """Draw the operator tree hanging from its root; every subtree has its own space."""
    count = len(tree)
    boxes = [_box_width(label) for label in tree.labels]
    children = tree.children()
    gap = _GAP / 2
    widths = [0.0] * count
    for node in range(count - 1, -1, -1):
        below = sum(widths[child] + gap for child in children[node]) - gap if children[node] else 0.0
        widths[node] = max(boxes[node], below)
    left, x, y = [0.0] * count, [0.0] * count, [0.0] * count
    for node in range(count):
        x[node] = left[node] + (widths[node] - boxes[node]) / 2
        below = sum(widths[child] + gap for child in children[node]) - gap
        start = left[node] + (widths[node] - below) / 2
        for child in children[node]:
            left[child], y[child] = start, y[node] + _HEIGHT + _ROW + 8
            start += widths[child] + gap
    lines = []
    for parent, edge, node in tree.triples():
        start, end = x[parent] + boxes[parent] / 2, x[node] + boxes[node] / 2
        lines.append(_line(start, y[parent] + _HEIGHT, end, y[node]))
        along = start + (end - start) * 0.72 + (8 if end >= start else -8)
        level = y[parent] + _HEIGHT + (y[node] - y[parent] - _HEIGHT) * 0.72 - 3
        lines.append(_edge_label(along, level, edge, f"operand {edge}"))
    return TreeDrawing(widths[0], max(y) + _HEIGHT, lines + _boxes(tree, boxes, x, y, marks))


def _by_edge(tree: Tree) -> list[dict[str, int]]:
    below: list[dict[str, int]] = [{} for _ in tree.labels]
    for parent, edge, node in tree.triples():
        below[parent][edge] = node
    return below


def _hanging(edges: dict[str, int], order: str) -> list[int]:
    return [edges[edge] for edge in order if edge in edges]


def _row_width(row: Sequence[int], full: Sequence[float]) -> float:
    return sum(full[node] + _GAP for node in row) - _GAP


def _boxes(
    tree: Tree, boxes: Sequence[float], x: Sequence[float], y: Sequence[float], marks: Marks | None
) -> list[str]:
    shapes = []
    for node, label in enumerate(tree.labels):
        kind = node_type(label)
        mark = marks.get(node) if marks is not None else None
        said = f"{label} ({TYPES[kind]})" + (f": {mark.said}" if mark else "")
        parts = [
            shape("title", escaped(said)),
            shape(
                "rect",
                x=x[node],
                y=y[node],
                width=boxes[node],
                height=_HEIGHT,
                rx=7,
                fill=_COLOURS[kind],
                stroke=mark.colour if mark else _LINE,
                stroke_width=3 if mark else None,
                stroke_dasharray="4 3" if mark and mark.dashed else None,
            ),
            text(x[node] + boxes[node] / 2, y[node] + 18, _shown(label), 14, _INK, "middle"),
            _badge(x[node], y[node], mark) if mark else "",
        ]
        shapes.append(shape("g", *parts, opacity=0.35 if marks is not None and mark is None else None))
    return shapes


def _badge(x: float, y: float, mark: NodeMark) -> str:
    width = 8 + text_width(mark.badge, 9)
    frame = shape("rect", x=x - 7, y=y - 9, width=width, height=14, rx=7, fill=mark.colour)
    return frame + text(x - 7 + width / 2, y + 1.5, mark.badge, 9, "#ffffff", "middle", bold=True)


def _legend(types: Sequence[str], top: float, room: float) -> TreeDrawing:
    shapes: list[str] = []
    x, y = _MARGIN, top
    for kind in types:
        name = TYPES[kind]
        taken = 22 + text_width(name, 12) + 18
        if x > _MARGIN and x + taken > room + _MARGIN:
            x, y = _MARGIN, y + 20
        shapes.append(shape("rect", x=x, y=y, width=14, height=14, rx=4, fill=_COLOURS[kind], stroke=_LINE))
        shapes.append(text(x + 20, y + 11, name, 12, _CAPTION, "start"))
        x += taken
    return TreeDrawing(room, y - top + 14, shapes)


def _shown(label: str) -> str:
    """Return the text of a box: the value, with the notation's escapes undone and blanks made visible."""
    shown = value(label)
    for name, character in _ESCAPES:
        shown = shown.replace(name, character)
    return _shortened(shown, 24) or "␣"


def _shortened(said: str, length: int) -> str:
    said = " ".join(said.split())
    return said if len(said) <= length else said[: length - 1] + "…"


def _box_width(label: str) -> float:
    return max(28.0, text_width(_shown(label), 14) + 16)


def _edge_label(x: float, y: float, edge: str, meaning: str) -> str:
    return shape("g", shape("title", escaped(meaning)), text(x, y, edge, 11, _CAPTION, "middle"))


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return shape("path", d=f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}", stroke=_LINE, stroke_width=1.4)


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
