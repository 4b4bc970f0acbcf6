"""Environments and diagrams: matrices, cases, arrays with rules, alignments, lines below each other."""

from __future__ import annotations

from dataclasses import replace

from mathamr.formulas.latex.commands import MATRICES
from mathamr.formulas.latex.display.accents import long_arrow
from mathamr.formulas.latex.display.atom import INNER, ORD, Atom, arranged, in_row, operator
from mathamr.formulas.latex.display.fences import fenced
from mathamr.formulas.latex.display.fractions import in_style
from mathamr.formulas.latex.display.tablelines import (
    ALIGNMENT,
    ARRAY,
    CASES,
    COLUMNS,
    DIAGRAM,
    EQUATION_ARRAY,
    LINES,
    MATRIX,
    SMALL_MATRIX,
    STACK,
    Cell,
    TableLine,
    columns_of,
    lines_of,
    table,
)
from mathamr.formulas.latex.display.typesetter import Typesetter, maker
from mathamr.formulas.latex.styles import DISPLAY, SCRIPT, TEXT
from mathamr.formulas.latex.syntax import Arrow, Construct, Row
from mathamr.formulas.mathml.element import Element

_GAP = Element("mspace", "", (), {"width": "0.1em"})
_STARRED_SIDES = {"l": ("left",), "r": ("right",)}


@maker("matrix")
def _matrix(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    *options, read = piece.arguments
    name = piece.data.removesuffix("*")
    side = (options[0] or "").strip() if options else ""
    layout = SMALL_MATRIX if "small" in name else MATRIX
    lines = lines_of(setter, read, SCRIPT if layout is SMALL_MATRIX else TEXT)
    opening, closing = MATRICES.get(name, ("", "", ""))[:2]
    element = table(lines, replace(layout, sides=_STARRED_SIDES.get(side, ())))
    if opening:
        element = fenced(operator(opening), [_GAP, element, _GAP], operator(closing), setter.budget)
    atoms.append(Atom(element, INNER if opening else ORD, setter.style))


@maker("cases")
def _cases(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    """Draw cases after an opening brace, or before a closing one."""
    *head, read = piece.arguments
    if head:
        atoms.extend(setter.walk(head[0]))
    large, closing = piece.data[0] == "d", "rcases" in piece.data
    lines = lines_of(setter, read, DISPLAY if large else TEXT)
    body = table(lines, replace(CASES, attributes=(("displaystyle", "true"),)) if large else CASES)
    brace = operator("}" if closing else "{")
    row = [body, _GAP] if closing else [_GAP, body]
    element = fenced(None if closing else brace, row, brace if closing else None, setter.budget)
    atoms.append(Atom(element, INNER, setter.style))


@maker("array")
def _array(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    _, template, read = piece.arguments
    sides, rules = columns_of(template)
    large = piece.data == "darray"
    lines = lines_of(setter, read, DISPLAY if large else TEXT)
    attributes = (("displaystyle", "true"),) if large else ()
    layout = replace(ARRAY, sides=sides, rules=tuple(rules.items()), attributes=attributes)
    atoms.append(Atom(table(lines, layout), ORD, setter.style))


@maker("stack")
def _stack(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    *template, read = piece.arguments
    sides = columns_of(template[0])[0][:1] if template else ()
    lines = lines_of(setter, read, SCRIPT)
    atoms.append(Atom(table(lines, replace(STACK, sides=sides)), ORD, setter.style))


@maker("aligned")
def _aligned(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    name = piece.data
    layout = COLUMNS if name.removesuffix("*").endswith("at") else ALIGNMENT
    if name.startswith("eqnarray"):
        layout = EQUATION_ARRAY
    lines = lines_of(setter, piece.arguments[-1], DISPLAY, aligned=layout is not EQUATION_ARRAY)
    atoms.append(Atom(table(lines, layout), ORD, setter.style))


@maker("gathered")
def _gathered(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    name = piece.data
    lines = lines_of(setter, piece.arguments[-1], DISPLAY, aligned=True)
    layout = replace(LINES, sides={"lgathered": ("left",), "rgathered": ("right",)}.get(name, ()))
    if name.startswith("multline"):
        for line, side in ((lines[0], "left"), (lines[-1], "right")):
            for cell in line.cells:
                cell.classes = [side]
    elif any(len(line.cells) > 1 for line in lines):
        layout = ALIGNMENT
    atoms.append(Atom(table(lines, layout), ORD, setter.style))


@maker("lines")
def _lines(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    """Draw the tables in braces of plain TeX, and the objects of `\\xymatrix`."""
    layout = {"eqalign": ALIGNMENT, "displaylines": LINES, "objects": MATRIX}[piece.data]
    style = TEXT if piece.data == "objects" else DISPLAY
    lines = lines_of(setter, piece.arguments[-1], style, aligned=piece.data == "eqalign")
    atoms.append(Atom(table(lines, layout), ORD, setter.style))


# -- commutative diagrams

_HORIZONTAL = {">": "→", "<": "←", ")": "→", "(": "←"}
_VERTICAL = {"V": "↓", "A": "↑", "|": "‖", "\\|": "‖"}
_TALL = {"stretchy": "true", "symmetric": "true", "minsize": "1.7em", "maxsize": "1.7em"}
_LENGTH = 4.0


@maker("diagram")
def _diagram(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    """Draw objects and arrows in turn: `A @>f>g> B \\\\ @VhVV @VVkV \\\\ C @= D`."""
    lines = []
    style = setter.style
    setter.set_font_and_style(setter.font, TEXT)
    for read in piece.arguments[0]:
        line = TableLine()
        for part in read:
            element = _arrow(setter, part) if isinstance(part, Arrow) else setter.element(part)
            if element is not None:
                line.cells.append(Cell(element))
        lines.append(_with_columns(line))
    setter.set_font_and_style(setter.font, style)
    atoms.append(Atom(table(lines, DIAGRAM), ORD, style))


def _arrow(setter: Typesetter, arrow: Arrow) -> Element | None:
    first, second = _label(setter, arrow.first), _label(setter, arrow.second)
    if arrow.sign in _HORIZONTAL:
        return long_arrow(_HORIZONTAL[arrow.sign], first, second, _LENGTH)
    if arrow.sign in _VERTICAL:
        return _upright(operator(_VERTICAL[arrow.sign], **_TALL), first, second)
    if arrow.sign == "=":
        return long_arrow("=", None, None, _LENGTH)
    return Element("mrow") if arrow.sign == "." else None


def _label(setter: Typesetter, row: Row) -> Element | None:
    elements = arranged(setter.walk_in(SCRIPT, row))
    return in_row(elements) if elements else None


def _upright(arrow: Element, left: Element | None, right: Element | None) -> Element:
    """Return a vertical arrow in the middle of its cell: each label has space on the other side too."""
    arrow.attributes = {**arrow.attributes, "lspace": "0.1em", "rspace": "0.1em"}
    before = [_beside(right, hidden=True), _beside(left, hidden=False)]
    after = [_beside(right, hidden=False), _beside(left, hidden=True)]
    return Element("mrow", "", [part for part in (*before, arrow, *after) if part is not None])


def _beside(label: Element | None, *, hidden: bool) -> Element | None:
    if label is None:
        return None
    small = in_style(label, SCRIPT)
    return Element("mphantom", "", (small,)) if hidden else small


def _with_columns(line: TableLine) -> TableLine:
    """Add an empty cell between two vertical arrows of a line, under the arrows of the line above."""
    if not any(_is_upright(cell) for cell in line.cells):
        return line
    cells: list[Cell] = []
    for cell in line.cells:
        cells.extend([Cell(Element("mrow")), cell] if cells else [cell])
    return TableLine(cells, gap=0.3)


def _is_upright(cell: Cell) -> bool:
    return any(part.tag == "mo" and "minsize" in part.attributes for part in cell.element.children)
