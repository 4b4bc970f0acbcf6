"""Environments and tables in braces: their names, and how both back ends read them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mathamr.formulas.latex.groupreader import CELL_ENDS, Commands, GroupReader

IN_ENVIRONMENT = CELL_ENDS | {"\\end"}
IN_BRACES = CELL_ENDS | {"}"}

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
    ["align", "align*", "aligned", "alignat", "alignat*", "alignedat", "flalign", "flalign*", "eqnarray", "eqnarray*", "xalignat", "xalignat*", "xxalignat"]
)  # fmt: skip
GATHERED = frozenset(
    ["split", "gather", "gather*", "gathered", "multline", "multline*", "multlined", "lgathered", "rgathered"]
)
TRANSPARENT = frozenset(
    ["equation", "equation*", "displaymath", "math", "document", "center", "subequations", "dmath", "dmath*", "flushleft", "flushright"]
)  # fmt: skip
HEADED = frozenset(["numcases", "subnumcases"])
"""Cases whose argument is what comes before the brace."""
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


def _begin(reader: GroupReader[Any, Any], items: list[Any]) -> None:
    start = reader.i - 1
    name = reader.raw_argument().strip()
    if name in TRANSPARENT:
        return
    environment = reader.environments.get(name)
    if environment is None:
        reader.repair(f"unknown environment {name}", start)
        return
    start = reader.i - 1
    reader.descend()
    environment(reader, items, name)
    if reader.peek() == "\\end":
        reader.i += 1
        found = reader.raw_argument().strip()
        if found != name:
            reader.repair(f"\\begin{{{name}}} ended by \\end{{{found}}}")
    else:
        reader.repair(f"unclosed environment {name}", start)
    reader.depth -= 1


def _end(reader: GroupReader[Any, Any], items: list[Any]) -> None:
    name = reader.raw_argument().strip()
    if name not in TRANSPARENT:
        reader.repair(f"\\end{{{name}}} without its beginning")


def _stray_cell(reader: GroupReader[Any, Any], items: list[Any]) -> None:
    """Reads a cell over several columns outside of a table."""
    reader.raw_argument()
    reader.raw_argument()
    items.extend(reader.argument())


COMMANDS: Commands = {"\\begin": _begin, "\\end": _end, "\\multicolumn": _stray_cell}


def read_cells(
    reader: GroupReader[Any, Any],
    style: int,
    begin_line: Callable[[], None],
    read_cell: Callable[[], None],
    end_line: Callable[[], None],
) -> None:
    """Reads the cells of a table line by line; `end_line` reads the options after `\\\\`."""
    font, outer_style = reader.font, reader.style
    begin_line()
    while True:
        reader.set_font_and_style(font, style)
        read_cell()
        token = reader.peek()
        if token not in CELL_ENDS:
            break
        reader.i += 1
        if token == "&":
            continue
        if token in ("\\\\", "\\newline"):
            end_line()
        begin_line()
    reader.set_font_and_style(font, outer_style)


def in_braces(table: Callable[[Any, list[Any]], None]) -> Callable[[Any, list[Any]], None]:
    """A table that is written as an argument: `\\substack{a\\\\b}`, `\\matrix{a&b\\cr c&d}`."""

    def put(reader: GroupReader[Any, Any], items: list[Any]) -> None:
        if reader.peek() != "{":
            reader.repair("missing argument", reader.i)
            return
        start = reader.i
        reader.i += 1
        reader.descend()
        table(reader, items)
        reader.depth -= 1
        if reader.peek() == "}":
            reader.i += 1
        else:
            reader.repair("unclosed {", start)

    return put
