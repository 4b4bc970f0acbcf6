"""A picture of a `MathGraph`: meaning, operators, layout and virtual nodes, each in its own colour.

Trees grow from left to right and the first child is in its parent's row, so that a layout tree reads like its
formula. Tinted regions show what a virtual node gathers; the virtual nodes are at the left, the document's first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mathamr.amr.picture import PlacedGraph, place
from mathamr.core.drawing import ROW, Drawing, shortened, text_width
from mathamr.graphs.configuration import TREELESS, FormulaMode
from mathamr.graphs.mathgraph import MathGraph
from mathamr.graphs.unify import TREE_VARIABLE, unified

_LEFT = 300.0
_TOP = 64.0
_LEGEND = {
    "amr": "meaning (AMR)",
    "formula": "formula",
    "opt": "operators (OPT)",
    "slt": "layout (SLT)",
    "virtual": "virtual node",
}


@dataclass(slots=True)
class _Box:
    """The area of a part of the picture."""

    left: float = float("inf")
    top: float = float("inf")
    right: float = 0.0
    bottom: float = 0.0

    def add(self, x: float, y: float, width: float) -> None:
        self.left, self.top = min(self.left, x), min(self.top, y - ROW / 2)
        self.right, self.bottom = max(self.right, x + width), max(self.bottom, y + ROW / 2)


def picture(graph: MathGraph, mode: FormulaMode = "both") -> str:
    """Draws the graph of one post as SVG."""
    whole = unified(graph, mode)
    drawing = Drawing(f"MathAMR+ graph of post {graph.post_id}")
    formula_variables = {formula.variable: formula for formula in graph.formulas}

    def kind(variable: str) -> str:
        match = TREE_VARIABLE.fullmatch(variable)
        if match:
            return {"o": "opt", "s": "slt"}[match[1]]
        return "formula" if variable in formula_variables else "amr"

    placed = place(whole, _LEFT, _TOP)
    placed.draw(drawing, kind)
    _virtual_nodes(drawing, graph, placed, mode)
    _legend(drawing, graph)
    return drawing.svg()


def _virtual_nodes(drawing: Drawing, graph: MathGraph, placed: PlacedGraph, mode: FormulaMode) -> None:
    badges: list[tuple[float, str, str, _Box, str]] = []
    for number, variables in enumerate(graph.sentences):
        box = _box(placed, variables)
        text = graph.texts[number] if number < len(graph.texts) else ""
        badges.append((box.top + ROW / 2, f"sentence {number}", "amr", box, text))
    for formula in graph.formulas if mode not in TREELESS else ():
        number_text = formula.placeholder.rpartition("_")[2]
        for letter, tree, region in (("o", formula.opt, "opt"), ("s", formula.slt, "slt")):
            nodes = [f"{letter}{number_text}_{n}" for n in range(len(tree or ()))]
            if nodes and nodes[0] in placed.x:
                box = _box(placed, nodes)
                drawing.region(
                    box.left - 5, box.top + 1, box.right - box.left + 10, box.bottom - box.top - 2, region
                )
        box = _box(placed, [formula.variable])
        badges.append((box.top + ROW / 2, f"formula {number_text}", "formula", box, formula.formula_id))
    badges.sort(key=lambda badge: badge[0])
    y = _TOP
    drawing.node(16, _TOP, "VIRTUAL_DOCUMENT", "virtual", f"post {graph.post_id}")
    document = 16 + text_width("VIRTUAL_DOCUMENT") + 10
    for wanted, label, kind, box, hint in badges:
        y = max(wanted, y + ROW)
        width = drawing.node(176, y, label, "virtual", hint)
        drawing.curve((document, _TOP), (176, y), "virtual", "dotted")
        drawing.curve((176 + width, y), (box.left, box.top + ROW / 2), "virtual", "dotted")
        if kind == "amr":
            drawing.region(
                box.left - 8, box.top - 1, box.right - box.left + 16, box.bottom - box.top + 2, "amr"
            )


def _box(placed: PlacedGraph, variables: Iterable[str]) -> _Box:
    box = _Box()
    for variable in variables:
        if variable in placed.x:
            box.add(placed.x[variable], placed.y[variable], placed.width[variable])
    if box.right == 0:
        box.add(_LEFT, _TOP, 0)
    return box


def _legend(drawing: Drawing, graph: MathGraph) -> None:
    x = 16.0
    for kind, text in _LEGEND.items():
        x += drawing.node(x, 20, text, kind) + 8
    drawing.text(
        x + 8,
        20,
        f"post {shortened(graph.post_id)}: {len(graph.sentences)} sentences, {len(graph.formulas)} formulas",
        "heading",
    )
