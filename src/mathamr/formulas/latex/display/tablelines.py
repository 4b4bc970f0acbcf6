"""Tables: their lines and cells, rules, and the space between them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from mathamr.formulas.latex.display.atom import ORD, arranged, em_of, in_row, length
from mathamr.formulas.latex.display.typesetter import Typesetter
from mathamr.formulas.latex.syntax import CellLine, Construct, Row
from mathamr.formulas.mathml.element import Element
from mathamr.formulas.mathml.styles import STYLE

_RULES = {
    "\\hline": "above",
    "\\toprule": "above",
    "\\midrule": "above",
    "\\bottomrule": "above",
    "\\hdashline": "above-dashed",
}
_PARTIAL_RULES = {"\\cline": "above", "\\cmidrule": "above", "\\cdashline": "above-dashed"}
_SIDES = {"l": "left", "r": "right", **dict.fromkeys("pmbX", "left")}
_MOST_COLUMNS = 200
_MOST_RULES = 20
"""The maximum number of rule parts above one line."""
_REPEATED = re.compile(r"\*\s*\{\s*([0-9]{1,3})\s*\}\s*\{([^{}]*)\}")
_RANGE = re.compile(r"\s*([0-9]{1,3})\s*-\s*([0-9]{1,3})\s*")


@dataclass(slots=True)
class Cell:
    """The content of one cell, and the number of columns it spans."""

    element: Element
    classes: list[str] = field(default_factory=list)
    span: int = 1


@dataclass(slots=True)
class TableLine:
    """One row: its cells, the rules above it (class, first and last column), the space below, its number."""

    cells: list[Cell] = field(default_factory=list)
    rules: list[tuple[str, int, int]] = field(default_factory=list)
    gap: float = 0.0
    tag: Element | None = None

    def is_empty(self) -> bool:
        """Return True if the line is empty."""
        return all(cell.element.tag == "mrow" and not cell.element.children for cell in self.cells)


def lines_of(
    setter: Typesetter, read: Sequence[CellLine], style: int, *, aligned: bool = False
) -> list[TableLine]:
    """Return the lines of a table with their cells drawn.

    In an alignment every second cell begins with an invisible operand, so that a relation is spaced as one.
    """
    outer_tag, outer_style = setter.tag, setter.style
    lines: list[TableLine] = []
    for each in read:
        line = TableLine(gap=em_of(each.options.strip("* []")))
        lines.append(line)
        _add_rules(each, line)
        for cell in each.cells:
            setter.tag = None
            setter.set_font_and_style(setter.font, style)
            line.cells.append(_cell(setter, cell, ORD if aligned and len(line.cells) % 2 else None))
            line.tag = setter.tag or line.tag
    setter.set_font_and_style(setter.font, outer_style)
    setter.tag = outer_tag
    return lines


def _cell(setter: Typesetter, row: Row, before: int | None) -> Cell:
    first = row[0] if row else None
    if not isinstance(first, Construct) or first.kind != "several columns":
        return Cell(in_row(arranged(setter.walk(row), before)))
    count, template, content = first.arguments
    count = count.strip()
    sides, rules = columns_of(template)
    element = in_row([setter.element(content), *arranged(setter.walk(row[1:]))])
    span = min(int(count), _MOST_COLUMNS) if count.isdigit() and count.isascii() and len(count) < 4 else 1
    classes = [sides[0]] if sides and sides[0] else []
    classes += ["before"] * (0 in rules) + ["after"] * (1 in rules)
    return Cell(element, classes, max(span, 1))


def _add_rules(read: CellLine, line: TableLine) -> None:
    for token, columns in read.rules:
        if token in _RULES:
            line.rules = [rule for rule in line.rules if rule[0] != _RULES[token]][:_MOST_RULES]
            line.rules.append((_RULES[token], 1, _MOST_COLUMNS))
        elif (bounds := _RANGE.fullmatch(columns)) and len(line.rules) < _MOST_RULES:
            line.rules.append((_PARTIAL_RULES[token], int(bounds[1]), int(bounds[2])))


def columns_of(template: str) -> tuple[tuple[str, ...], dict[int, str]]:
    """Return the alignment of the columns of `{l|c@{}r}`, and the columns before which there is a rule.

    >>> columns_of("l|c:r")
    (('left', '', 'right'), {1: '', 2: '-dashed'})
    """
    for _ in range(3):
        template = _REPEATED.sub(lambda found: found[2] * min(int(found[1]), _MOST_COLUMNS), template)[:2000]
    sides: list[str] = []
    rules: dict[int, str] = {}
    depth = 0
    for character in template:
        if character in "{}":
            depth += 1 if character == "{" else -1
        elif depth > 0:
            continue
        elif character in "|:":
            rules[len(sides)] = "-dashed" if character == ":" else ""
        elif character.isalpha() and len(sides) < _MOST_COLUMNS:
            sides.append(_SIDES.get(character, ""))
    return tuple(sides), rules


@dataclass(frozen=True, slots=True)
class Layout:
    """How a kind of table is laid out: the class of its cells, the strut of a row, the alignment of its columns."""

    cell: str = "cell"
    strut: tuple[float, float] = (0.79, 0.31)
    """The least height and depth of every row, in em; with the padding of its cells they are TeX's."""
    sides: tuple[str, ...] = ()
    """The alignment of columns; the last one holds for all further columns."""
    repeats: bool = False
    """True if the alignments repeat, in pairs with space between them."""
    outer: bool = False
    """True if there is space before the first column and after the last."""
    attributes: tuple[tuple[str, str], ...] = ()
    rules: tuple[tuple[int, str], ...] = ()
    """The columns before which there is a vertical rule, and its style."""

    def classes(self, column: int) -> list[str]:
        """Return the classes of a cell in a column."""
        found = [self.cell]
        if self.sides:
            place = column % len(self.sides) if self.repeats else min(column, len(self.sides) - 1)
            found += self.sides[place].split()
            if self.repeats and column and not place:
                found.append("apart")
        return found


_LARGE = (("displaystyle", "true"),)
ARRAY = Layout(outer=True)
MATRIX = Layout()
SMALL_MATRIX = Layout("tight", (0.65, 0.25), attributes=(("displaystyle", "false"), ("scriptlevel", "1")))
STACK = Layout("stacked", (0.75, 0.25))
CASES = Layout(strut=(1.0, 0.43), sides=("left",))
ALIGNMENT = Layout("line", sides=("right", "left"), repeats=True, attributes=_LARGE)
COLUMNS = Layout("line", sides=("right", "left") * 50, attributes=_LARGE)
EQUATION_ARRAY = Layout("tight", (0.99, 0.51), ("right", "", "left"), attributes=_LARGE)
LINES = Layout("line", attributes=_LARGE)


def table(lines: Sequence[TableLine], layout: Layout) -> Element:
    """Make a table of lines; the rules of an empty last line are drawn below the line before it."""
    drawn = list(lines)
    below: list[tuple[str, int, int]] = []
    if drawn and drawn[-1].is_empty() and drawn[-1].tag is None:
        below = drawn.pop().rules
    width = max((sum(cell.span for cell in line.cells) for line in drawn), default=0)
    rows = []
    for number, line in enumerate(drawn):
        cells = _cells(line, width, layout, below if number == len(drawn) - 1 else ())
        if line.tag is not None:
            cells.append(Element("mtd", "", (line.tag,), {STYLE: "line tag"}))
        rows.append(Element("mtr", "", cells))
    return Element("mtable", "", rows, dict(layout.attributes))


def _cells(
    line: TableLine, width: int, layout: Layout, below: Sequence[tuple[str, int, int]]
) -> list[Element]:
    """Make the cells of one line, filled up to the width of the table; a strut in the first gives the line its height."""
    height, depth = layout.strut
    strut = Element(
        "mspace", "", (), {"height": length(height), "depth": length(depth + max(line.gap, -depth))}
    )
    rules = dict(layout.rules)
    missing = width - sum(cell.span for cell in line.cells)
    made = []
    column = 0
    for cell in [*line.cells, *(Cell(Element("mrow")) for _ in range(missing))]:
        after = column + cell.span
        classes = [layout.cell, *cell.classes] if cell.classes else layout.classes(column)
        if not layout.outer:
            classes += ["first"] * (column == 0) + ["last"] * (after == width)
        if not cell.classes:
            classes += [f"before{rules.get(column)}"] * (column in rules)
            classes += [f"after{rules.get(after)}"] * (after == width and after in rules)
        classes += [name for name, first, last in line.rules if first <= after and column < last]
        classes += ["below"] * any(first <= after and column < last for _, first, last in below)
        attributes = {STYLE: " ".join(dict.fromkeys(name for name in classes if name))}
        if cell.span > 1:
            attributes["columnspan"] = str(cell.span)
        inside = [] if cell.element.tag == "mrow" and not cell.element.children else [cell.element]
        made.append(Element("mtd", "", [strut, *inside] if column == 0 else inside, attributes))
        column = after
    return made


def in_lines(lines: Sequence[TableLine], *, display: bool) -> Element:
    """Make a complete formula: one line, or several below each other; equation numbers follow."""
    lines = [line for line in lines if not line.is_empty() or line.tag is not None]
    if len(lines) == 1 and len(lines[0].cells) == 1:
        line = lines[0]
        element = line.cells[0].element
        if line.tag is None:
            return element
        gap = Element("mspace", "", (), {"width": "2em"})
        return Element("mrow", "", (element, gap, line.tag))
    layout = ALIGNMENT if any(len(line.cells) > 1 for line in lines) else replace(LINES, sides=("left",))
    return table(lines, layout if display else replace(layout, attributes=()))
