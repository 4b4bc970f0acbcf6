"""The nodes of tables: matrices, cases, arrays, alignments and diagrams."""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.formulas.latex.commands import MATRICES
from mathamr.formulas.latex.node import (
    ARRAY,
    HINT,
    ROW,
    TEXT,
    TOKEN,
    Node,
    apply,
    dual,
    operator,
    row,
)
from mathamr.formulas.latex.nodewalk import NodeWalk
from mathamr.formulas.latex.styles import DISPLAY
from mathamr.formulas.latex.styles import SCRIPT as SCRIPT_STYLE
from mathamr.formulas.latex.styles import TEXT as TEXT_STYLE
from mathamr.formulas.latex.syntax import CellLine, Construct
from mathamr.formulas.latex.walk import Maker

Cells = list[list[list[Node]]]


def _cells(walk: NodeWalk, lines: Sequence[CellLine], style: int) -> Cells:
    """Return the cells of a table, row by row; a rule across it has a row of its own, and empty rows at the end are dropped."""
    rows: Cells = []
    for line in lines:
        rows += [[[]] for rule, _ in line.rules if rule in ("\\hline", "\\cline")]
        rows.append([walk.walk_in(style, cell) for cell in line.cells])
    while rows and not any(node.kind != HINT for cell in rows[-1] for node in cell):
        rows.pop()
    return rows


def _table(walk: NodeWalk, rows: Cells, role: str = "", columns: int = 0) -> Node:
    """Return a table of cells; short rows are filled up to a number of columns."""
    lines = []
    walk.budget.spend(len(rows) * columns)
    for cells in rows:
        line = [_cell(walk, cell) for cell in cells]
        line += [row(()) for _ in range(columns - len(line))]
        lines.append(Node(ROW, children=line))
    return Node(ARRAY, role, children=lines)


def _cell(walk: NodeWalk, nodes: Sequence[Node]) -> Node:
    if not any(node.kind != HINT for node in nodes):
        return row(())
    return walk.expression(nodes, trailing=True)


def _lines(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    style = TEXT_STYLE if piece.data == "objects" else DISPLAY
    if rows := _cells(walk, piece.arguments[-1], style):
        nodes.append(_table(walk, rows))


def _stack(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    if rows := _cells(walk, piece.arguments[-1], SCRIPT_STYLE):
        array = _table(walk, rows)
        nodes.append(dual(apply(operator("list"), array), array))


def _matrix(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    name = piece.data.removesuffix("*")
    is_small = name == "smallmatrix"
    rows = _cells(walk, piece.arguments[-1], SCRIPT_STYLE if is_small else TEXT_STYLE)
    if not rows:
        return
    array = _table(walk, rows)
    if is_small:
        nodes.append(array)
        return
    opening, closing, meaning = MATRICES[name]
    content = apply(operator("matrix"), array)
    if meaning:
        content = apply(operator(meaning), content)
    shown = array
    if opening:
        shown = row([Node(TOKEN, "OPEN", opening), array, Node(TOKEN, "CLOSE", closing)])
    nodes.append(dual(content, shown))


def _cases(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    rows = _cells(walk, piece.arguments[-1], DISPLAY if piece.data[0] == "d" else TEXT_STYLE)
    if not rows:
        return
    array = _table(walk, rows, columns=2)
    otherwise = Node(TEXT, text="otherwise")
    cells = [
        otherwise if cell.kind == ROW and not cell.children else cell
        for line in array.children
        for cell in line.children
    ]
    closing = "rcases" in piece.data
    fences = [array, Node(TOKEN, "CLOSE", "}")] if closing else [Node(TOKEN, "OPEN", "{"), array]
    nodes.append(dual(apply(operator("cases"), *cells), row(fences)))


def _array(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    _, template, lines = piece.arguments
    if rows := _cells(walk, lines, TEXT_STYLE):
        nodes.append(_table(walk, rows, "ARRAY", _columns(template)))


def _columns(template: str) -> int:
    """Return the number of columns of a template like `{l|cc}`."""
    count, depth = 0, 0
    for character in template:
        depth += (character == "{") - (character == "}")
        count += depth == 0 and character.isalpha()
    return count


def _aligned(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    rows = _cells(walk, piece.arguments[-1], DISPLAY)
    if len(rows) == 1 and piece.data not in ("aligned", "alignedat"):
        nodes.extend(node for cell in rows[0] for node in cell)
    elif rows:
        nodes.append(_table(walk, rows))


def _gathered(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    if rows := _cells(walk, piece.arguments[-1], DISPLAY):
        nodes.append(dual(walk.expression(_unrolled(rows), trailing=True), _table(walk, rows)))


def _unrolled(rows: Cells) -> list[Node]:
    """Join all cells to one formula broken over lines; an operator repeated at a break counts once."""
    result: list[Node] = []
    for cells in rows:
        for cell in cells:
            content = list(cell)
            if content and content[0].kind == HINT:
                content = content[1:]
            if content and content[-1].kind == HINT:
                content = content[:-1]
            if result and content:
                last, first = result[-1], content[0]
                if (
                    last.kind == first.kind == TOKEN
                    and last.role == first.role
                    and last.meaning == first.meaning
                    and last.role in ("ADDOP", "MULOP", "RELOP")
                ):
                    result.pop()
            result.extend(content)
    return result


TABLE_MAKERS: dict[str, Maker] = {
    "lines": _lines,
    "stack": _stack,
    "matrix": _matrix,
    "cases": _cases,
    "array": _array,
    "aligned": _aligned,
    "gathered": _gathered,
}
