"""Pictures of a `MathGraph`: meaning, operators, layout and virtual nodes, each in its own colour, or `folded`.

Trees grow from left to right and the first child is in its parent's row, so that a layout tree reads like its
formula. Tinted regions show what a virtual node gathers; the virtual nodes are at the left, the document's first.
A folded picture has the meaning of every sentence below its text, in two columns, and a formula is one node.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mathamr.amr.builtin.frames import is_frame
from mathamr.amr.graph import Amr, string, unquoted
from mathamr.amr.picture import PlacedGraph, place
from mathamr.amr.placeholder import PLACEHOLDER
from mathamr.core.drawing import ROW, Drawing, shortened, text_width
from mathamr.graphs.configuration import TREELESS, Auxiliary, FormulaMode, Structure
from mathamr.graphs.mathgraph import MathGraph, sentence_graph
from mathamr.graphs.unify import TREE_VARIABLE, unified
from mathamr.graphs.virtual import auxiliary_pairs

_LEFT = 300.0
_TOP = 64.0
_BADGES = 176.0
"""The left end of the virtual nodes of sentences and formulas."""
_COLUMN, _LINE, _MARGIN = 72, 18.0, 40.0
"""The characters of a line of text in a folded picture, its height, and the space around a sentence."""
_LEGEND = {
    "amr": "meaning (AMR)",
    "concept": "concept",
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

    @property
    def row(self) -> float:
        """The first row."""
        return self.top + ROW / 2

    def add(self, x: float, y: float, width: float) -> None:
        self.left, self.top = min(self.left, x), min(self.top, y - ROW / 2)
        self.right, self.bottom = max(self.right, x + width), max(self.bottom, y + ROW / 2)


def picture(
    graph: MathGraph,
    mode: FormulaMode = "both",
    structure: Structure = "hierarchy",
    auxiliary: Auxiliary = "none",
) -> str:
    """Draw the graph of one post as SVG, with the virtual nodes that a tensor of this configuration has."""
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
    for mention, _, first in graph.links:
        if mention in placed.x and first in placed.x:
            end = placed.x[first] + placed.width[first]
            drawing.curve((placed.x[mention], placed.y[mention]), (end, placed.y[first]), "formula", "again")
    badges = _badges(drawing, graph, placed, mode)
    if structure == "hierarchy":
        _virtual_nodes(drawing, graph, placed, badges, auxiliary)
    elif structure == "global":
        document = _document(drawing, graph)
        for variable, x in placed.x.items():
            drawing.curve((document, _TOP), (x, placed.y[variable]), "virtual", "dotted")
    _legend(drawing, graph)
    return drawing.svg()


def folded(graph: MathGraph, latex: Mapping[str, str]) -> str:
    """Draw the meaning of a post sentence by sentence, in two columns; a formula is one node with its LaTeX, by formula id.

    Trees of formulas and virtual nodes are left out, so that a post with many formulas can be read.
    """
    drawing = Drawing(f"Sentences of post {graph.post_id}")
    shown = {formula.placeholder: latex.get(formula.formula_id, "") for formula in graph.formulas}
    blocks = [_sentence(graph, number, shown) for number in range(len(graph.sentences))]
    heights = [block.height for block in blocks]
    left, y, half = 16.0, _TOP, sum(heights) / 2
    above, right = 0.0, 0.0
    for block, height in zip(blocks, heights, strict=True):
        if y > _TOP and left == 16.0 and above + height / 2 > half:
            left, y = right + _MARGIN, _TOP
        right = max(right, block.draw(drawing, left, y))
        y += height
        above += height
    _legend(drawing, graph, ("amr", "concept", "formula"))
    return drawing.svg()


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence of a folded picture: the lines of its text, and its graph with formulas as LaTeX."""

    lines: tuple[str, ...]
    amr: Amr
    formulas: frozenset[str]

    @property
    def height(self) -> float:
        rows = max(place(self.amr, 0.0, 0.0).y.values()) / ROW + 1
        return len(self.lines) * _LINE + rows * ROW + _MARGIN

    def draw(self, drawing: Drawing, left: float, top: float) -> float:
        """Draw the sentence and return its right end."""
        concepts = self.amr.concepts()
        for number, line in enumerate(self.lines):
            drawing.text(left, top + number * _LINE, line, "heading")
        placed = place(self.amr, left, top + len(self.lines) * _LINE + ROW / 2)
        placed.draw(
            drawing,
            lambda each: (
                "formula" if each in self.formulas else "amr" if is_frame(concepts[each]) else "concept"
            ),
        )
        ends = [placed.x[each] + placed.width[each] + placed.beside[each] for each in placed.x]
        return max(*ends, left, *(left + text_width(line) for line in self.lines))


def _sentence(graph: MathGraph, number: int, latex: Mapping[str, str]) -> _Sentence:
    own = sentence_graph(graph, number).amr
    formulas = {each for each, concept in own.instances if PLACEHOLDER.fullmatch(unquoted(concept))}
    instances = tuple(
        (each, string(latex.get(unquoted(concept)) or unquoted(concept)) if each in formulas else concept)
        for each, concept in own.instances
    )
    text = graph.texts[number] if number < len(graph.texts) else ""
    said = PLACEHOLDER.sub(lambda found: f"${latex[found[0]]}$" if latex.get(found[0]) else found[0], text)
    lines = textwrap.wrap(said, _COLUMN) or [f"sentence {number}"]
    return _Sentence(tuple(lines), replace(own, instances=instances), frozenset(formulas))


@dataclass(frozen=True, slots=True)
class _Badge:
    """The virtual node of a sentence or a formula, beside the first of the `boxes`; it gathers all of them, a formula its trees alone.

    `order` is its place in the document.
    """

    order: tuple[int, int, int]
    label: str
    hint: str
    boxes: tuple[_Box, ...]

    @property
    def row(self) -> float:
        return self.boxes[0].row

    @property
    def gathered(self) -> tuple[_Box, ...]:
        return self.boxes[1:] or self.boxes


def _badges(drawing: Drawing, graph: MathGraph, placed: PlacedGraph, mode: FormulaMode) -> list[_Badge]:
    """Tint the regions of sentences and trees; return their virtual nodes."""
    badges: list[_Badge] = []
    earlier: set[str] = set()
    for number, variables in enumerate(graph.sentences):
        box = _box(placed, (each for each in variables if each not in earlier))
        earlier.update(variables)
        drawing.region(box.left - 8, box.top - 1, box.right - box.left + 16, box.bottom - box.top + 2, "amr")
        text = graph.texts[number] if number < len(graph.texts) else ""
        badges.append(_Badge((number, 0, 0), f"sentence {number}", text, (box,)))
    for count, formula in enumerate(graph.formulas if mode not in TREELESS else ()):
        number_text = formula.placeholder.rpartition("_")[2]
        boxes = [_box(placed, [formula.variable])]
        for letter, tree, region in (("o", formula.opt, "opt"), ("s", formula.slt, "slt")):
            nodes = [f"{letter}{number_text}_{n}" for n in range(len(tree or ()))]
            if nodes and nodes[0] in placed.x:
                boxes.append(box := _box(placed, nodes))
                drawing.region(
                    box.left - 5, box.top + 1, box.right - box.left + 10, box.bottom - box.top - 2, region
                )
        order = (formula.sentence, 1, count)
        badges.append(_Badge(order, f"formula {number_text}", formula.formula_id, tuple(boxes)))
    return badges


def _document(drawing: Drawing, graph: MathGraph) -> float:
    """Draw the document's virtual node; return its right end."""
    return 16 + drawing.node(16, _TOP, "VIRTUAL_DOCUMENT", "virtual", f"post {graph.post_id}")


def _virtual_nodes(
    drawing: Drawing, graph: MathGraph, placed: PlacedGraph, badges: Sequence[_Badge], auxiliary: Auxiliary
) -> None:
    document, y = _document(drawing, graph), _TOP
    drawing.curve((document, _TOP), (placed.x[placed.amr.top], placed.y[placed.amr.top]), "virtual", "dotted")
    rows: dict[tuple[int, int, int], float] = {}
    for badge in sorted(badges, key=lambda badge: badge.row):
        rows[badge.order] = y = max(badge.row, y + ROW)
        width = drawing.node(_BADGES, y, badge.label, "virtual", badge.hint)
        drawing.curve((document, _TOP), (_BADGES, y), "virtual", "dotted")
        for box in badge.gathered:
            drawing.curve((_BADGES + width, y), (box.left, box.row), "virtual", "dotted")
    for one, other in auxiliary_pairs(sorted(rows), auxiliary):
        # Edges that skip nodes bow out further, so that they can be told from those of neighbours.
        bow = _BADGES - 8 - min(24.0, abs(rows[one] - rows[other]) / ROW * 2)
        drawing.line(
            [(_BADGES, rows[one]), (bow, rows[one]), (bow, rows[other]), (_BADGES, rows[other])], "virtual"
        )


def _box(placed: PlacedGraph, variables: Iterable[str]) -> _Box:
    box = _Box()
    for variable in variables:
        if variable in placed.x:
            box.add(placed.x[variable], placed.y[variable], placed.width[variable])
    if box.right == 0:
        box.add(_LEFT, _TOP, 0)
    return box


def _legend(
    drawing: Drawing, graph: MathGraph, kinds: Sequence[str] = ("amr", "formula", "opt", "slt", "virtual")
) -> None:
    x = 16.0
    for kind in kinds:
        x += drawing.node(x, 20, _LEGEND[kind], kind) + 8
    drawing.text(
        x + 8,
        20,
        f"post {shortened(graph.post_id)}: {len(graph.sentences)} sentences, {len(graph.formulas)} formulas",
        "heading",
    )
