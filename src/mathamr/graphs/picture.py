"""A picture of a `MathGraph`: meaning, operators, layout and virtual nodes, each in its own colour.

Trees grow from left to right and the first child is in its parent's row, so that a layout tree reads like its
formula. Tinted regions show what a virtual node gathers; the virtual nodes are at the left, the document's first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from mathamr.amr.graph import unquoted
from mathamr.amr.notation import layout
from mathamr.core.drawing import ROW, Drawing, shortened, text_width
from mathamr.graphs.configuration import TREELESS, FormulaMode
from mathamr.graphs.mathgraph import MathGraph
from mathamr.graphs.unify import TREE_VARIABLE, unified

_LEFT = 300.0
_TOP = 64.0
_GAP = 14.0
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


@dataclass(slots=True)
class _Placed:
    """The positions of the nodes."""

    x: dict[str, float] = field(default_factory=dict)
    y: dict[str, float] = field(default_factory=dict)
    width: dict[str, float] = field(default_factory=dict)
    beside: dict[str, float] = field(default_factory=dict)


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

    children = layout(whole)
    constants: dict[str, list[tuple[str, str]]] = {}
    for source, role, constant in whole.attributes:
        constants.setdefault(source, []).append((role, constant))
    placed = _place(whole.top, dict(whole.instances), children, constants)
    concepts = dict(whole.instances)
    for variable, branches in children.items():
        for role, target, defines in branches:
            _edge(drawing, placed, variable, role, target, kind(target) if defines else "again", defines)
    for variable, x in placed.x.items():
        drawing.node(x, placed.y[variable], unquoted(concepts[variable]), kind(variable), hint=variable)
    for variable, pairs in constants.items():
        x = placed.x[variable] + placed.width[variable] + 5
        drawing.text(x, placed.y[variable], _constants(pairs), "amr")
    _virtual_nodes(drawing, graph, placed, mode)
    _legend(drawing, graph)
    return drawing.svg()


def _place(
    top: str,
    concepts: dict[str, str],
    children: dict[str, list[tuple[str, str, bool]]],
    constants: dict[str, list[tuple[str, str]]],
) -> _Placed:
    placed = _Placed()
    row = 0
    # (variable, x, whether it starts a new row)
    waiting: list[tuple[str, float, bool]] = [(top, _LEFT, False)]
    while waiting:
        variable, x, new_row = waiting.pop()
        row += new_row
        placed.x[variable], placed.y[variable] = x, _TOP + row * ROW
        width = text_width(shortened(unquoted(concepts[variable])) or "∅") + 10
        placed.width[variable] = width
        beside = text_width(_constants(constants.get(variable, [])))
        placed.beside[variable] = beside = beside + 8 if beside else 0.0
        defined = [(role, target) for role, target, defines in children[variable] if defines]
        for index, (role, target) in reversed(list(enumerate(defined))):
            start = x + width + beside + text_width(role) * 10 / 12 + 2 * _GAP
            waiting.append(
                (target, start if index == 0 else x + _GAP + text_width(role) * 10 / 12 + 2 * _GAP, index > 0)
            )
    return placed


def _constants(pairs: list[tuple[str, str]]) -> str:
    return "  ".join(f"{role} {shortened(unquoted(constant), 20)}" for role, constant in pairs)


def _edge(
    drawing: Drawing, placed: _Placed, variable: str, role: str, target: str, kind: str, defines: bool
) -> None:
    x1, y1 = placed.x[variable], placed.y[variable]
    x2, y2 = placed.x[target], placed.y[target]
    right = x1 + placed.width[variable]
    if not defines:
        drawing.curve((right, y1), (x2, y2), "formula", "again")
        drawing.text(right + 4, y1 + 9, f"{role} ↪", "role")
        return
    if y1 == y2:
        drawing.line([(right + placed.beside[variable], y1), (x2, y2)], kind)
        width = text_width(role) * 10 / 12
        drawing.text(x2 - width - _GAP / 2 - 2, y2 - 7, role, "role")
    else:
        corner = x1 + _GAP
        drawing.line([(corner, y1 + 9), (corner, y2), (x2, y2)], kind)
        drawing.text(corner + 4, y2 - 7, role, "role")


def _virtual_nodes(drawing: Drawing, graph: MathGraph, placed: _Placed, mode: FormulaMode) -> None:
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


def _box(placed: _Placed, variables: Iterable[str]) -> _Box:
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
