"""Diagrams: the environment `CD` with its arrows, and the objects of `\\xymatrix`."""

from __future__ import annotations

from mathamr.formulas.latex.display.accents import long_arrow
from mathamr.formulas.latex.display.atom import ORD, Atom, arranged, in_row, operator
from mathamr.formulas.latex.display.fractions import in_style
from mathamr.formulas.latex.display.matrices import braced, plain
from mathamr.formulas.latex.display.tablelines import DIAGRAM, MATRIX, Cell, TableLine, table
from mathamr.formulas.latex.display.typesetter import ENVIRONMENTS, Typesetter, command
from mathamr.formulas.latex.styles import SCRIPT, TEXT
from mathamr.formulas.mathml.element import Element

_HORIZONTAL = {">": "→", "<": "←", ")": "→", "(": "←"}
_VERTICAL = {"V": "↓", "A": "↑"}
_TALL = {"stretchy": "true", "symmetric": "true", "minsize": "1.7em", "maxsize": "1.7em"}
_LENGTH = 4.0
_ROW_ENDS = ("\\\\", "\\cr")


def _commutative(setter: Typesetter, atoms: list[Atom], name: str) -> None:
    """Objects and arrows in turn: `A @>f>g> B \\\\ @VhVV @VVkV \\\\ C @= D`."""
    end = setter.i
    while end < setter.count and setter.tokens[end] != "\\end":
        end += 1
    count, setter.count = setter.count, end
    lines = [TableLine()]
    style, setter.style = setter.style, TEXT
    while setter.peek():
        token = setter.peek()
        if token in _ROW_ENDS:
            setter.i += 1
            lines.append(TableLine())
        elif token == "@":
            setter.i += 1
            _arrow(setter, lines[-1])
        else:
            element = setter.row(frozenset(["@", *_ROW_ENDS]))
            lines[-1].cells.append(Cell(element))
    setter.style, setter.count = style, count
    atoms.append(Atom(table([_with_columns(line) for line in lines], DIAGRAM), ORD, style))


def _arrow(setter: Typesetter, line: TableLine) -> None:
    sign = setter.peek()
    setter.i += 1
    if sign in _HORIZONTAL:
        above, below = _label(setter, sign), _label(setter, sign)
        line.cells.append(Cell(long_arrow(_HORIZONTAL[sign], above, below, _LENGTH)))
    elif sign in _VERTICAL:
        left, right = _label(setter, sign), _label(setter, sign)
        line.cells.append(Cell(_upright(operator(_VERTICAL[sign], **_TALL), left, right)))
    elif sign == "=":
        line.cells.append(Cell(long_arrow("=", None, None, _LENGTH)))
    elif sign in ("|", "\\|"):
        line.cells.append(Cell(_upright(operator("‖", **_TALL), None, None)))
    elif sign == ".":
        line.cells.append(Cell(Element("mrow")))
    else:
        setter.repair("an unknown arrow of a diagram")


def _label(setter: Typesetter, sign: str) -> Element | None:
    """Returns everything up to the arrow's next sign outside braces."""
    depth, start = 0, setter.i
    end = start
    while end < setter.count and (depth or setter.tokens[end] != sign):
        depth += (setter.tokens[end] == "{") - (setter.tokens[end] == "}")
        end += 1
    count, setter.count = setter.count, end
    style, setter.style = setter.style, SCRIPT
    elements = arranged(setter.read(frozenset()))
    setter.style, setter.count, setter.i = style, count, end + 1
    return in_row(elements) if elements else None


def _upright(arrow: Element, left: Element | None, right: Element | None) -> Element:
    """Returns a vertical arrow in the middle of its cell: each label has space on the other side too."""
    arrow.attributes = {**arrow.attributes, "lspace": "0.1em", "rspace": "0.1em"}
    before = [_beside(right, hidden=True), _beside(left, hidden=False)]
    after = [_beside(right, hidden=False), _beside(left, hidden=True)]
    return Element("mrow", "", [part for part in (*before, arrow, *after) if part is not None])


def _beside(label: Element | None, hidden: bool) -> Element | None:
    if label is None:
        return None
    small = in_style(label, SCRIPT)
    return Element("mphantom", "", (small,)) if hidden else small


def _with_columns(line: TableLine) -> TableLine:
    """Adds an empty cell between two vertical arrows of a line, under the arrows of the line above."""
    if not any(_is_upright(cell) for cell in line.cells):
        return line
    cells: list[Cell] = []
    for cell in line.cells:
        cells.extend([Cell(Element("mrow")), cell] if cells else [cell])
    return TableLine(cells, gap=0.3)


def _is_upright(cell: Cell) -> bool:
    return any(part.tag == "mo" and "minsize" in part.attributes for part in cell.element.children)


ENVIRONMENTS["CD"] = _commutative


@command("\\xymatrix")
def _xymatrix(setter: Typesetter, atoms: list[Atom]) -> None:
    while setter.i < setter.count and setter.tokens[setter.i] not in ("{", "\\\\", "&"):
        setter.i += 1
    _OBJECTS(setter, atoms)


_OBJECTS = braced(plain(MATRIX), TEXT)
