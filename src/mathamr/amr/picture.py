"""Draws a meaning graph as SVG, from left to right, one column per level.

Every node stands to the right of the node under which Penman writes it, in rows, so that labels never collide
however long they are; edges to nodes that are drawn elsewhere are dashed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from xml.sax.saxutils import escape

from mathamr.amr.graph import Amr, unquoted
from mathamr.amr.notation import layout
from mathamr.amr.placeholder import PLACEHOLDER

ROW, BOX_HEIGHT, MARGIN, GAP = 34, 24, 20, 46
MAX_LABEL = 42
_FRAME = re.compile(r".*-\d\d")
# Characters that XML 1.0 does not allow.
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Style:
    """The style of one kind of node."""

    legend: str
    fill: str
    stroke: str


STYLES: Mapping[str, Style] = {
    "frame": Style("frame", "#dbeafe", "#2563eb"),
    "concept": Style("concept", "#eceff3", "#6b7280"),
    "formula": Style("formula", "#f3e8ff", "#7e22ce"),
    "attribute": Style("constant", "#ffffff", "#9ca3af"),
}


@dataclass(slots=True)
class _Node:
    """A box: a node of the graph, or a constant."""

    label: str
    kind: str
    role: str
    parent: int
    level: int
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0


def svg(amr: Amr, title: str = "") -> str:
    """The picture of `amr` with `title` above it."""
    nodes, numbers, crossing = _nodes(amr)
    width, height = _place(nodes)
    lines = _wrapped(title, max(width, 480)) if title else []
    used = {node.kind for node in nodes}
    legend = [style for kind, style in STYLES.items() if kind in used]
    head = 22 * len(lines) + (10 if lines else 0)
    width = max(width, *(_text_width(line) + 2 * MARGIN for line in lines), 110 * len(legend) + MARGIN, 200)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height + head + 30:.0f}" '
        f'viewBox="0 0 {width:.0f} {height + head + 30:.0f}" font-family="DejaVu Sans, Helvetica, Arial, sans-serif" '
        f'font-size="13" role="img">',
        f"<title>{_text(title or 'AMR')}</title>",
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" fill="#6b7280"/></marker></defs>',
        f'<rect width="{width:.0f}" height="{height + head + 30:.0f}" fill="#ffffff"/>',
    ]
    for number, line in enumerate(lines):
        parts.append(f'<text x="{MARGIN}" y="{MARGIN + 8 + 22 * number}" fill="#111827">{_text(line)}</text>')
    parts.append(f'<g transform="translate(0,{head})">')
    parts += (_tree_edge(nodes[node.parent], node) for node in nodes if node.parent >= 0)
    arcs = [
        _crossing_edge(nodes[numbers[source]], role, nodes[numbers[target]])
        for source, role, target in crossing
    ]
    parts += (path for path, _ in arcs)
    parts += (_box(node, STYLES[node.kind], top=number == 0) for number, node in enumerate(nodes))
    parts += (label for _, label in arcs)
    parts.append("</g>")
    parts += _legend(legend, height + head)
    parts.append("</svg>\n")
    return "\n".join(parts)


def _nodes(amr: Amr) -> tuple[list[_Node], dict[str, int], list[tuple[str, str, str]]]:
    """All boxes in Penman's order, their numbers, and the edges to boxes drawn elsewhere."""
    children, concepts = layout(amr), amr.concepts()
    attributes: dict[str, list[tuple[str, str]]] = {}
    for source, role, constant in amr.attributes:
        attributes.setdefault(source, []).append((role, constant))
    nodes: list[_Node] = []
    numbers: dict[str, int] = {}
    crossing: list[tuple[str, str, str]] = []
    waiting = [(amr.top, "", -1, 0)]
    while waiting:
        variable, role, parent, level = waiting.pop()
        number = numbers[variable] = len(nodes)
        concept = concepts[variable]
        nodes.append(_Node(_label(concept), _kind(concept), role, parent, level))
        for its_role, constant in attributes.get(variable, ()):
            nodes.append(_Node(_label(constant), "attribute", its_role, number, level + 1))
        crossing += ((variable, r, target) for r, target, defines in children[variable] if not defines)
        defined = [(target, r, number, level + 1) for r, target, defines in children[variable] if defines]
        waiting += reversed(defined)
    return nodes, numbers, crossing


def _kind(concept: str) -> str:
    if PLACEHOLDER.fullmatch(concept):
        return "formula"
    return "frame" if _FRAME.fullmatch(concept) else "concept"


def _place(nodes: list[_Node]) -> tuple[float, float]:
    """Places every box; returns the width and height of the picture."""
    columns: dict[int, tuple[float, float]] = {}
    for node in nodes:
        node.width = _text_width(node.label) + 18
        box, role = columns.get(node.level, (0.0, 0.0))
        columns[node.level] = (max(box, node.width), max(role, _text_width(node.role)))
    lefts, x = {}, float(MARGIN)
    for level in sorted(columns):
        x += columns[level][1] + (GAP if level else 0)
        lefts[level] = x
        x += columns[level][0]
    parents = {node.parent for node in nodes}
    row = 0
    for number, node in enumerate(nodes):
        node.x = lefts[node.level]
        if number not in parents:
            node.y = MARGIN + ROW * row + BOX_HEIGHT / 2
            row += 1
    first: dict[int, float] = {}
    last: dict[int, float] = {}
    for number in range(len(nodes) - 1, -1, -1):  # children come after their parent
        node = nodes[number]
        if number in first:
            node.y = (first[number] + last[number]) / 2
        first[node.parent] = min(node.y, first.get(node.parent, node.y))
        last[node.parent] = max(node.y, last.get(node.parent, node.y))
    return x + MARGIN, 2 * MARGIN + ROW * row


def _tree_edge(parent: _Node, child: _Node) -> str:
    start, label = parent.x + parent.width, _text_width(child.role)
    bend = child.x - label - 14
    middle = (start + bend) / 2
    return (
        f'<path d="M{start:.0f},{parent.y:.1f} C{middle:.0f},{parent.y:.1f} {middle:.0f},{child.y:.1f} '
        f'{bend:.0f},{child.y:.1f} H{child.x - 1:.0f}" fill="none" stroke="#9ca3af" marker-end="url(#arrow)"/>'
        + _role(child.role, child.x - 11, child.y + 4, "end")
    )


def _crossing_edge(source: _Node, role: str, target: _Node) -> tuple[str, str]:
    """Draws a dashed arc with its label: to the right of two boxes in one column, else between their facing edges."""
    if source.level == target.level:
        start, end = source.x + source.width, target.x + target.width
        out = max(start, end) + 46
        curve = [(start, source.y), (out, source.y), (out, target.y), (end + 1, target.y)]
        label = _along(curve, 0.5)
    else:
        up = -1 if target.y < source.y else 1
        (x1, y1), (x2, y2) = (
            (source.x + 16, source.y + up * BOX_HEIGHT / 2),
            (target.x + target.width / 2, target.y - up * BOX_HEIGHT / 2),
        )
        reach = up * max(26.0, abs(y2 - y1) / 2)
        curve = [(x1, y1), (x1, y1 + reach), (x2, y2 - reach), (x2, y2)]
        label = _along(curve, 0.35)
    (x0, y0), *rest = curve
    path = (
        f'<path d="M{x0:.0f},{y0:.1f} C{" ".join(f"{x:.0f},{y:.1f}" for x, y in rest)}" fill="none" '
        f'stroke="#c2410c" stroke-dasharray="5 3" marker-end="url(#arrow)"/>'
    )
    return path, _role(role, label[0], label[1] + 4, "middle", "#c2410c")


def _along(curve: list[tuple[float, float]], part: float) -> tuple[float, float]:
    """The point of a Bézier curve at that fraction of its parameter."""
    weights = ((1 - part) ** 3, 3 * (1 - part) ** 2 * part, 3 * (1 - part) * part**2, part**3)
    return (
        sum(weight * x for weight, (x, _) in zip(weights, curve, strict=True)),
        sum(weight * y for weight, (_, y) in zip(weights, curve, strict=True)),
    )


def _role(role: str, x: float, y: float, anchor: str, colour: str = "#374151") -> str:
    return (
        f'<text x="{x:.0f}" y="{y:.1f}" font-size="12" text-anchor="{anchor}" fill="{colour}" stroke="#ffffff" '
        f'stroke-width="4" paint-order="stroke">{_text(role)}</text>'
    )


def _box(node: _Node, style: Style, *, top: bool) -> str:
    radius = BOX_HEIGHT / 2 if node.kind == "attribute" else 5
    weight = ' font-weight="bold"' if top else ""
    return (
        f'<rect x="{node.x:.0f}" y="{node.y - BOX_HEIGHT / 2:.1f}" width="{node.width:.0f}" height="{BOX_HEIGHT}" '
        f'rx="{radius:.0f}" fill="{style.fill}" stroke="{style.stroke}" stroke-width="{2 if top else 1}"/>'
        f'<text x="{node.x + node.width / 2:.0f}" y="{node.y + 4.5:.1f}" text-anchor="middle" fill="#111827"{weight}>'
        f"{_text(node.label)}</text>"
    )


def _legend(styles: list[Style], y: float) -> Iterator[str]:
    for number, style in enumerate(styles):
        x = MARGIN + 110 * number
        yield (
            f'<rect x="{x}" y="{y:.0f}" width="14" height="14" rx="3" fill="{style.fill}" stroke="{style.stroke}"/>'
            f'<text x="{x + 20}" y="{y + 11:.0f}" font-size="12" fill="#4b5563">{_text(style.legend)}</text>'
        )


def _label(atom: str) -> str:
    text = " ".join(unquoted(atom).split()) or '""'
    return text if len(text) <= MAX_LABEL else f"{text[: MAX_LABEL - 1]}…"


def _text_width(text: str) -> float:
    """The approximate width of a text in a sans-serif font of 13 px."""
    return sum(13.0 if ord(c) > 0x2E7F else 9.4 if c.isupper() or c in "mw_" else 7.6 for c in text)


def _wrapped(text: str, width: float) -> list[str]:
    """The title wrapped into at most four lines."""
    lines, line = [], ""
    for word in " ".join(text.split())[:2000].split(" "):
        longer = f"{line} {word}".strip()
        if line and _text_width(longer) > width - 2 * MARGIN:
            lines.append(line)
            line = word[:200]
        else:
            line = longer[:400]
    lines.append(line)
    return lines if len(lines) <= 4 else [*lines[:3], f"{lines[3]} …"]


def _text(text: str) -> str:
    return escape(_ILLEGAL.sub("\ufffd", text))
