"""Environments: matrices, cases, arrays and aligned formulas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from mathamr.formulas.latex.node import ARRAY, HINT, ROW, TEXT, TOKEN, Node, apply, dual, operator, row
from mathamr.formulas.latex.reader import CELL_ENDS, COMMANDS, Reader

_CELL_IN_ENVIRONMENT = CELL_ENDS | {"\\end"}
_CELL_IN_BRACES = CELL_ENDS | {"}"}
_ROW_ENDS = CELL_ENDS - {"&"}

Cells = list[list[list[Node]]]

MATRICES = {
    # environment: (opening, closing, what the delimiters mean)
    "matrix": ("", "", ""),
    "pmatrix": ("(", ")", ""),
    "bmatrix": ("[", "]", ""),
    "Bmatrix": ("{", "}", ""),
    "vmatrix": ("|", "|", "determinant"),
    "Vmatrix": ("‖", "‖", "norm"),
}
for _small in list(MATRICES)[1:]:
    MATRICES[f"{_small[0]}smallmatrix"] = MATRICES[_small]
MATRICES_IN_BRACES = {
    "mqty": "matrix", "pmqty": "pmatrix", "bmqty": "bmatrix", "vmqty": "vmatrix", "mdet": "vmatrix", "matrixquantity": "matrix",
    "smqty": "matrix", "spmqty": "pmatrix", "sbmqty": "bmatrix", "svmqty": "vmatrix", "smdet": "vmatrix",
}  # fmt: skip
"""Matrices of the package physics, `\\pmqty{a&b}`."""
ALIGNED = frozenset(
    [
        "align",
        "align*",
        "aligned",
        "alignat",
        "alignat*",
        "alignedat",
        "flalign",
        "flalign*",
        "eqnarray",
        "eqnarray*",
        "xalignat",
        "xalignat*",
        "xxalignat",
    ]
)
GATHERED = frozenset(
    ["split", "gather", "gather*", "gathered", "multline", "multline*", "multlined", "lgathered", "rgathered"]
)
TRANSPARENT = frozenset(
    [
        "equation",
        "equation*",
        "displaymath",
        "math",
        "document",
        "center",
        "subequations",
        "dmath",
        "dmath*",
        "flushleft",
        "flushright",
    ]
)
HEADED = frozenset(["numcases", "subnumcases"])
"""Cases with what stands before the brace as their argument."""
CHOICES = (
    "cases",
    "dcases",
    "rcases",
    "drcases",
    "cases*",
    "dcases*",
    "rcases*",
    "drcases*",
    *sorted(HEADED),
)
"""All environments of cases."""
_WITH_ARGUMENT = frozenset(
    ["alignat", "alignat*", "alignedat", "xalignat", "xalignat*", "xxalignat", "subarray"]
)


def _begin(reader: Reader, nodes: list[Node]) -> None:
    start = reader.i - 1
    name = reader.raw_argument().strip()
    if name in TRANSPARENT:
        return
    if name not in ENVIRONMENTS:
        reader.repair(f"unknown environment {name}", start)
        return
    reader.descend()
    ENVIRONMENTS[name](reader, nodes, name)
    reader.depth -= 1


def _end(reader: Reader, nodes: list[Node]) -> None:
    name = reader.raw_argument().strip()
    if name not in TRANSPARENT:
        reader.repair(f"\\end{{{name}}} without its beginning")


def finish(reader: Reader, name: str, start: int) -> None:
    """Reads the end of an environment."""
    if reader.peek() == "\\end":
        reader.i += 1
        found = reader.raw_argument().strip()
        if found != name:
            reader.repair(f"\\begin{{{name}}} ended by \\end{{{found}}}")
    else:
        reader.repair(f"unclosed environment {name}", start)


def cells_of(reader: Reader, stops: frozenset[str], style: str) -> Cells:
    """The cells of a table, row by row, as nodes; empty rows at the end are dropped."""
    font, outer_style = reader.font, reader.style
    rows: Cells = [[]]
    _rules(reader, rows)
    while True:
        reader.set_font(font)
        reader.set_style(style)
        reader.level += 1
        cell = reader.read(stops)
        reader.level -= 1
        rows[-1].append(cell)
        token = reader.peek()
        if not token or token not in CELL_ENDS:
            break
        reader.i += 1
        if token == "&":
            continue
        if token in ("\\\\", "\\newline"):
            reader.skip_line_options()
        rows.append([])
        _rules(reader, rows)
    reader.font = font
    reader.set_style(outer_style)
    while rows and not any(node.kind != HINT for cell in rows[-1] for node in cell):
        rows.pop()
    return rows


def _rules(reader: Reader, rows: Cells) -> None:
    """A rule across the table takes a row of its own, as the published trees have it."""
    while (rule := reader.peek()) in ("\\hline", "\\cline"):
        reader.i += 1
        if rule == "\\cline":
            reader.raw_argument()
        rows[-1].append([])
        rows.append([])


def table(reader: Reader, rows: Cells, role: str = "", columns: int = 0) -> Node:
    """Cells as a table; short rows are filled up to a number of columns."""
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


def _matrix(reader: Reader, nodes: list[Node], name: str) -> None:
    start = reader.i - 1
    base = name.removesuffix("*")
    if name.endswith("*"):
        reader.raw_optional()
    rows = cells_of(reader, _CELL_IN_ENVIRONMENT, "text")
    finish(reader, name, start)
    _append_matrix(reader, nodes, rows, *MATRICES[base])


def _append_matrix(
    reader: Reader, nodes: list[Node], rows: Cells, opening: str, closing: str, meaning: str
) -> None:
    if not rows:
        return
    array = table(reader, rows)
    content = apply(operator("matrix"), array)
    if meaning:
        content = apply(operator(meaning), content)
    shown = array
    if opening:
        shown = row([Node(TOKEN, "OPEN", opening), array, Node(TOKEN, "CLOSE", closing)])
    nodes.append(dual(content, shown))


def _append_named_matrix(name: str, reader: Reader, nodes: list[Node], rows: Cells) -> None:
    _append_matrix(reader, nodes, rows, *MATRICES[name])


def _cases(reader: Reader, nodes: list[Node], name: str) -> None:
    start = reader.i - 1
    if name in HEADED:
        nodes.extend(reader.argument())
    rows = cells_of(reader, _CELL_IN_ENVIRONMENT, "display" if name[0] == "d" else "text")
    finish(reader, name, start)
    _append_cases(reader, nodes, rows, closing="rcases" in name)


def _append_cases(reader: Reader, nodes: list[Node], rows: Cells, closing: bool = False) -> None:
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


def _columns(template: str) -> int:
    """How many columns a template like `{l|cc}` has."""
    count, depth = 0, 0
    for character in template:
        if character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
        elif depth == 0 and character.isalpha():
            count += 1
    return count


def _array(reader: Reader, nodes: list[Node], name: str) -> None:
    start = reader.i - 1
    reader.raw_optional()
    template = reader.raw_argument()
    rows = cells_of(reader, _CELL_IN_ENVIRONMENT, "text")
    finish(reader, name, start)
    if rows:
        nodes.append(table(reader, rows, "ARRAY", _columns(template)))


def _small_matrix(reader: Reader, nodes: list[Node], name: str) -> None:
    start = reader.i - 1
    if name.endswith("*"):
        reader.raw_optional()
    rows = cells_of(reader, _CELL_IN_ENVIRONMENT, "script")
    finish(reader, name, start)
    if rows:
        nodes.append(table(reader, rows))


def _subarray(reader: Reader, nodes: list[Node], name: str) -> None:
    start = reader.i - 1
    reader.raw_argument()
    rows = cells_of(reader, _CELL_IN_ENVIRONMENT, "script")
    finish(reader, name, start)
    _append_list(reader, nodes, rows)


def _append_list(reader: Reader, nodes: list[Node], rows: Cells) -> None:
    if rows:
        array = table(reader, rows)
        nodes.append(dual(apply(operator("list"), array), array))


def _aligned(reader: Reader, nodes: list[Node], name: str) -> None:
    start = reader.i - 1
    if name in _WITH_ARGUMENT:
        reader.raw_argument()
    if name in ("aligned", "alignedat"):
        reader.raw_optional()
    rows = cells_of(reader, _CELL_IN_ENVIRONMENT, "display")
    finish(reader, name, start)
    if len(rows) == 1 and name not in ("aligned", "alignedat"):
        nodes.extend(node for cell in rows[0] for node in cell)
    elif rows:
        nodes.append(table(reader, rows))


def _gathered(reader: Reader, nodes: list[Node], name: str) -> None:
    start = reader.i - 1
    if name.endswith("ed"):
        reader.raw_optional()
    if name == "multlined":
        reader.raw_optional()
    rows = cells_of(reader, _CELL_IN_ENVIRONMENT, "display")
    finish(reader, name, start)
    if rows:
        nodes.append(dual(reader.expression(_unrolled(rows), trailing=True), table(reader, rows)))


def _unrolled(rows: Cells) -> list[Node]:
    """All cells as one formula broken over lines; an operator repeated at a break counts once."""
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


def in_braces(
    build: Callable[[Reader, list[Node], Cells], None], style: str
) -> Callable[[Reader, list[Node]], None]:
    """A table written as an argument: `\\substack{a\\\\b}`, `\\matrix{a&b\\cr c&d}`."""

    def put(reader: Reader, nodes: list[Node]) -> None:
        if reader.peek() != "{":
            reader.repair("missing argument", reader.i)
            return
        start = reader.i
        reader.i += 1
        reader.descend()
        rows = cells_of(reader, _CELL_IN_BRACES, style)
        reader.depth -= 1
        if reader.peek() == "}":
            reader.i += 1
        else:
            reader.repair("unclosed {", start)
        build(reader, nodes, rows)

    return put


def _multicolumn(reader: Reader, nodes: list[Node]) -> None:
    reader.raw_argument()
    reader.raw_argument()
    nodes.extend(reader.argument())


Environment = Callable[[Reader, list[Node], str], None]
ENVIRONMENTS: dict[str, Environment] = {
    "array": _array,
    "tabular": _array,
    "darray": _array,
    "smallmatrix": _small_matrix,
    "smallmatrix*": _small_matrix,
    "subarray": _subarray,
    **dict.fromkeys(MATRICES, _matrix),
    **dict.fromkeys([f"{name}*" for name in MATRICES], _matrix),
    **dict.fromkeys(CHOICES, _cases),
    **dict.fromkeys(ALIGNED, _aligned),
    **dict.fromkeys(GATHERED, _gathered),
}

COMMANDS["\\begin"] = _begin
COMMANDS["\\end"] = _end
COMMANDS["\\multicolumn"] = _multicolumn
COMMANDS["\\substack"] = in_braces(_append_list, "script")
COMMANDS["\\cases"] = in_braces(_append_cases, "text")
COMMANDS["\\crampedsubstack"] = COMMANDS["\\substack"]
COMMANDS["\\matrix"] = in_braces(partial(_append_named_matrix, "matrix"), "text")
COMMANDS["\\pmatrix"] = COMMANDS["\\bordermatrix"] = in_braces(
    partial(_append_named_matrix, "pmatrix"), "text"
)
for _physics, _environment in MATRICES_IN_BRACES.items():
    COMMANDS["\\" + _physics] = in_braces(partial(_append_named_matrix, _environment), "text")
for _plain in ("\\eqalign", "\\eqalignno", "\\leqalignno", "\\displaylines"):
    COMMANDS[_plain] = in_braces(
        lambda reader, nodes, rows: nodes.append(table(reader, rows)) if rows else None, "display"
    )
