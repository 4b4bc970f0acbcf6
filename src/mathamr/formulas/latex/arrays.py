"""The nodes of matrices, cases, arrays and aligned formulas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from mathamr.formulas.latex import styles
from mathamr.formulas.latex.environments import (
    ALIGNED,
    CHOICES,
    GATHERED,
    HEADED,
    IN_BRACES,
    IN_ENVIRONMENT,
    MATRICES,
    MATRICES_IN_BRACES,
    in_braces,
    read_cells,
)
from mathamr.formulas.latex.node import ARRAY, HINT, ROW, TEXT, TOKEN, Node, apply, dual, operator, row
from mathamr.formulas.latex.reader import COMMANDS, ENVIRONMENTS, Command, Reader

Cells = list[list[list[Node]]]

_WITH_ARGUMENT = frozenset(["alignat", "alignat*", "alignedat", "xalignat", "xalignat*", "xxalignat"])


def cells_of(reader: Reader, stops: frozenset[str], style: int) -> Cells:
    """Returns the cells of a table, row by row, as nodes; empty rows at the end are dropped."""
    rows: Cells = []

    def begin_line() -> None:
        rows.append([])
        _rules(reader, rows)

    def read_cell() -> None:
        reader.level += 1
        rows[-1].append(reader.read(stops))
        reader.level -= 1

    read_cells(reader, style, begin_line, read_cell, reader.skip_line_options)
    while rows and not any(node.kind != HINT for cell in rows[-1] for node in cell):
        rows.pop()
    return rows


def _rules(reader: Reader, rows: Cells) -> None:
    """Gives a rule across the table a row of its own, as in the published trees."""
    while (rule := reader.peek()) in ("\\hline", "\\cline"):
        reader.i += 1
        if rule == "\\cline":
            reader.raw_argument()
        rows[-1].append([])
        rows.append([])


def table(reader: Reader, rows: Cells, role: str = "", columns: int = 0) -> Node:
    """Makes a table of cells; short rows are filled up to a number of columns."""
    lines = []
    reader.budget.spend(len(rows) * columns)
    for cells in rows:
        line = [_cell(reader, cell) for cell in cells]
        while len(line) < columns:
            line.append(row(()))
        lines.append(Node(ROW, children=line))
    return Node(ARRAY, role, children=lines)


def _cell(reader: Reader, nodes: Sequence[Node]) -> Node:
    if not any(node.kind != HINT for node in nodes):
        return row(())
    return reader.expression(nodes, trailing=True)


# -- what cells become

Build = Callable[[Reader, list[Node], Cells], None]


def put_table(reader: Reader, nodes: list[Node], rows: Cells) -> None:
    """Appends cells as a table without delimiters."""
    if rows:
        nodes.append(table(reader, rows))


def _put_list(reader: Reader, nodes: list[Node], rows: Cells) -> None:
    if rows:
        array = table(reader, rows)
        nodes.append(dual(apply(operator("list"), array), array))


def _put_matrix(reader: Reader, nodes: list[Node], rows: Cells, name: str) -> None:
    if not rows:
        return
    opening, closing, meaning = MATRICES[name]
    array = table(reader, rows)
    content = apply(operator("matrix"), array)
    if meaning:
        content = apply(operator(meaning), content)
    shown = array
    if opening:
        shown = row([Node(TOKEN, "OPEN", opening), array, Node(TOKEN, "CLOSE", closing)])
    nodes.append(dual(content, shown))


def _put_cases(reader: Reader, nodes: list[Node], rows: Cells, closing: bool = False) -> None:
    if not rows:
        return
    array = table(reader, rows, columns=2)
    otherwise = Node(TEXT, text="otherwise")
    cells = [
        otherwise if cell.kind == ROW and not cell.children else cell
        for line in array.children
        for cell in line.children
    ]
    fences = [array, Node(TOKEN, "CLOSE", "}")] if closing else [Node(TOKEN, "OPEN", "{"), array]
    nodes.append(dual(apply(operator("cases"), *cells), row(fences)))


# -- environments


def _matrix(reader: Reader, nodes: list[Node], name: str) -> None:
    if name.endswith("*"):
        reader.raw_optional()
    _put_matrix(reader, nodes, cells_of(reader, IN_ENVIRONMENT, styles.TEXT), name.removesuffix("*"))


def _small_matrix(reader: Reader, nodes: list[Node], name: str) -> None:
    if name.endswith("*"):
        reader.raw_optional()
    put_table(reader, nodes, cells_of(reader, IN_ENVIRONMENT, styles.SCRIPT))


def _cases(reader: Reader, nodes: list[Node], name: str) -> None:
    if name in HEADED:
        nodes.extend(reader.argument())
    rows = cells_of(reader, IN_ENVIRONMENT, styles.DISPLAY if name[0] == "d" else styles.TEXT)
    _put_cases(reader, nodes, rows, closing="rcases" in name)


def _array(reader: Reader, nodes: list[Node], name: str) -> None:
    reader.raw_optional()
    template = reader.raw_argument()
    rows = cells_of(reader, IN_ENVIRONMENT, styles.TEXT)
    if rows:
        nodes.append(table(reader, rows, "ARRAY", _columns(template)))


def _columns(template: str) -> int:
    """Returns the number of columns of a template like `{l|cc}`."""
    count, depth = 0, 0
    for character in template:
        if character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
        elif depth == 0 and character.isalpha():
            count += 1
    return count


def _subarray(reader: Reader, nodes: list[Node], name: str) -> None:
    reader.raw_argument()
    _put_list(reader, nodes, cells_of(reader, IN_ENVIRONMENT, styles.SCRIPT))


def _aligned(reader: Reader, nodes: list[Node], name: str) -> None:
    if name in _WITH_ARGUMENT:
        reader.raw_argument()
    if name in ("aligned", "alignedat"):
        reader.raw_optional()
    rows = cells_of(reader, IN_ENVIRONMENT, styles.DISPLAY)
    if len(rows) == 1 and name not in ("aligned", "alignedat"):
        nodes.extend(node for cell in rows[0] for node in cell)
    else:
        put_table(reader, nodes, rows)


def _gathered(reader: Reader, nodes: list[Node], name: str) -> None:
    if name.endswith("ed"):
        reader.raw_optional()
    if name == "multlined":
        reader.raw_optional()
    rows = cells_of(reader, IN_ENVIRONMENT, styles.DISPLAY)
    if rows:
        nodes.append(dual(reader.expression(_unrolled(rows), trailing=True), table(reader, rows)))


def _unrolled(rows: Cells) -> list[Node]:
    """Joins all cells to one formula broken over lines; an operator repeated at a break counts once."""
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


ENVIRONMENTS |= {
    **dict.fromkeys(["array", "tabular", "darray"], _array),
    **dict.fromkeys(["smallmatrix", "smallmatrix*"], _small_matrix),
    "subarray": _subarray,
    **dict.fromkeys([*MATRICES, *(f"{name}*" for name in MATRICES)], _matrix),
    **dict.fromkeys(CHOICES, _cases),
    **dict.fromkeys(ALIGNED, _aligned),
    **dict.fromkeys(GATHERED, _gathered),
}


# -- tables in braces


def braced(build: Build, style: int) -> Command:
    """A table that is written as an argument."""

    def put(reader: Reader, nodes: list[Node]) -> None:
        build(reader, nodes, cells_of(reader, IN_BRACES, style))

    return in_braces(put)


COMMANDS["\\substack"] = COMMANDS["\\crampedsubstack"] = braced(_put_list, styles.SCRIPT)
COMMANDS["\\cases"] = braced(_put_cases, styles.TEXT)
for _name, _matrix_name in {
    "matrix": "matrix", "pmatrix": "pmatrix", "bordermatrix": "pmatrix", **MATRICES_IN_BRACES,
}.items():  # fmt: skip
    COMMANDS["\\" + _name] = braced(partial(_put_matrix, name=_matrix_name), styles.TEXT)
for _name in ("\\eqalign", "\\eqalignno", "\\leqalignno", "\\displaylines"):
    COMMANDS[_name] = braced(put_table, styles.DISPLAY)
