"""Draws a meaning graph as SVG. Trees grow from left to right, and the first child is in its parent's row.

Every node stands under the node below which Penman writes it; edges to nodes that are drawn elsewhere are dashed.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field

from mathamr.amr.builtin.frames import is_frame
from mathamr.amr.graph import Amr, unquoted
from mathamr.amr.notation import Branches, by_source, layout
from mathamr.amr.placeholder import PLACEHOLDER
from mathamr.core.drawing import ROW, Drawing, shortened, text_width

GAP = 14.0
_ROLE_SIZE = 10 / 12
_LEGEND = {"amr": "frame", "concept": "concept", "formula": "formula"}
_LEFT, _TITLE_WIDTH, _TITLE_LINES = 16.0, 80, 4


@dataclass(slots=True)
class PlacedGraph:
    """The positions of a graph's nodes, and the width of the constants beside each."""

    amr: Amr
    branches: Branches
    constants: dict[str, str]
    x: dict[str, float] = field(default_factory=dict)
    y: dict[str, float] = field(default_factory=dict)
    width: dict[str, float] = field(default_factory=dict)
    beside: dict[str, float] = field(default_factory=dict)

    def draw(self, drawing: Drawing, kind: Callable[[str], str]) -> None:
        """Draw edges, nodes and constants; `kind` gives the kind of a variable's node."""
        for variable, branches in self.branches.items():
            for role, target, defines in branches:
                self._edge(drawing, variable, role, target, kind(target) if defines else None)
        for variable, concept in self.amr.instances:
            x, y = self.x[variable], self.y[variable]
            drawing.node(x, y, unquoted(concept), kind(variable), hint=variable)
            if variable in self.constants:
                drawing.text(x + self.width[variable] + 5, y, self.constants[variable], "amr")

    def _edge(self, drawing: Drawing, variable: str, role: str, target: str, kind: str | None) -> None:
        x1, y1, x2, y2 = self.x[variable], self.y[variable], self.x[target], self.y[target]
        right = x1 + self.width[variable]
        if kind is None:
            drawing.curve((right, y1), (x2, y2), "formula", "again")
            drawing.text(right + 4, y1 + 9, f"{role} ↪", "role")
        elif y1 == y2:
            drawing.line([(right + self.beside[variable], y1), (x2, y2)], kind)
            drawing.text(x2 - _role_width(role) - GAP / 2 - 2, y2 - 7, role, "role")
        else:
            corner = x1 + GAP
            drawing.line([(corner, y1 + 9), (corner, y2), (x2, y2)], kind)
            drawing.text(corner + 4, y2 - 7, role, "role")


def place(amr: Amr, left: float, top: float) -> PlacedGraph:
    """Place every node of a graph, the top one at that point."""
    constants = {
        variable: "  ".join(f"{role} {shortened(unquoted(constant), 20)}" for _, role, constant in triples)
        for variable, triples in by_source(amr.attributes).items()
    }
    placed, concepts = PlacedGraph(amr, layout(amr), constants), amr.concepts()
    row = 0
    waiting: list[tuple[str, float, bool]] = [(amr.top, left, False)]
    while waiting:
        variable, x, starts_row = waiting.pop()
        row += starts_row
        placed.x[variable], placed.y[variable] = x, top + row * ROW
        width = placed.width[variable] = text_width(shortened(unquoted(concepts[variable])) or "∅") + 10
        beside = text_width(constants[variable]) + 8 if variable in constants else 0.0
        placed.beside[variable] = beside
        defined = [(role, target) for role, target, defines in placed.branches[variable] if defines]
        for index, (role, target) in reversed(list(enumerate(defined))):
            start = x + (GAP if index else width + beside) + _role_width(role) + 2 * GAP
            waiting.append((target, start, index > 0))
    return placed


def svg(amr: Amr, title: str = "") -> str:
    """Return the picture of `amr` with `title` above it."""
    drawing, concepts = Drawing(title or "AMR"), amr.concepts()

    def kind(variable: str) -> str:
        concept = concepts[variable]
        return "formula" if PLACEHOLDER.fullmatch(concept) else "amr" if is_frame(concept) else "concept"

    y = 20.0
    for line in textwrap.wrap(title[:2000], _TITLE_WIDTH, max_lines=_TITLE_LINES, placeholder=" …"):
        drawing.text(_LEFT, y, line, "heading")
        y += ROW
    x, used = _LEFT, {kind(variable) for variable in concepts}
    for each, text in _LEGEND.items():
        if each in used:
            drawing.region(x, y - 5, 10, 10, each)
            drawing.text(x + 16, y, text, "role")
            x += text_width(text) + 32
    place(amr, _LEFT, y + 1.5 * ROW).draw(drawing, kind)
    return drawing.svg()


def _role_width(role: str) -> float:
    return text_width(role) * _ROLE_SIZE
