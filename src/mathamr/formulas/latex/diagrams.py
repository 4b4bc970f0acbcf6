"""Commutative diagrams of `tikz-cd`, `xy` and `amscd` as arrays, so that they can be drawn: objects in a grid, arrows between them.

Arrows to neighbours stand between the objects; longer ones are listed below the grid. Curves, styles and positions are
left out. What is shown is drawn from the arrays, and the trees of a diagram of tikz-cd or amscd in a note are those of its array.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_GROUP = r"\{(?:[^{}]|\{[^{}]*+\})*+\}"
"""An argument in braces, in which others may stand."""
_DIAGRAM = re.compile(
    rf"""
    \\begin\s*+\{{tikzcd\}}\s*+(?:\[[^\[\]]*\])? (?P<tikz>(?:(?!\\(?:begin|end)\s*+\{{tikzcd).)*+) \\end\s*+\{{tikzcd\}}
    | \\begin\s*+\{{CD\}} (?P<cd>(?:(?!\\(?:begin|end)\s*+\{{CD).)*+) \\end\s*+\{{CD\}}
    | \\xymatrix\s*+
        (?:@[!A-Z0-9=<>.+\-a-z]*+(?:\{{[^{{}}]*\}})?\s*+)*+       # options: @C=3pc, @!R{{…}}
        \{{(?P<xy>(?:[^{{}}]|\{{(?:[^{{}}]|{_GROUP})*+\}})*+)\}}
    """,
    re.S | re.X,
)
_TIKZ_ARROW = re.compile(
    r"""
    \\(?:arrow|ar|(?P<short>[udlr]{1,4})ar)\b\s*                  # \arrow, \ar, \drar
    (?:
        \[(?P<options>(?:[^\[\]{}"]|"[^"]*+"|\{[^{}]*+\})*+)\]   # [r, "f", hook]
        | \{(?P<way>[udlr]+)\}\s*+(?:\[[^\[\]]*\]\s*+)?           # {r}[swap]{f}, as in older versions
          \{(?P<label>(?:[^{}]|\{[^{}]*+\})*+)\}
    )?
    """,
    re.X,
)
_XY_LABEL = rf"[\^_|]\s*+(?:-\s*+)?(?:{_GROUP}|\\[A-Za-z]+|\S)"
_XY_ARROW = re.compile(
    rf"\\ar\s*+(?P<style>(?:@(?:(?!\\ar)[^\[])*+)?)\[(?P<way>[udlr]*)\]\s*(?P<labels>(?:{_XY_LABEL})*)"
)
_LABEL = re.compile(r"[\^_|]\s*+(?:-\s*+)?(\{(?:[^{}]|\{[^{}]*+\})*+\}|\\[A-Za-z]+|\S)")
_CD_LABEL = rf"((?:{_GROUP}|(?!\1)[^{{}}])*)"
_CD_ARROW = re.compile(rf"@(?:([<>VA]){_CD_LABEL}\1{_CD_LABEL}\1|([=|.]))")
_CD_SIGNS = {
    ">": r"\xrightarrow[%s]{%s}", "<": r"\xleftarrow[%s]{%s}", "V": r"{\scriptstyle %s}\downarrow{\scriptstyle %s}",
    "A": r"{\scriptstyle %s}\uparrow{\scriptstyle %s}", "=": "=", "|": r"\|", ".": "",
}  # fmt: skip
_QUOTED = re.compile(r'"([^"]*)"')
_SIGNS = {
    (0, 1): r"\xrightarrow{%s}", (0, -1): r"\xleftarrow{%s}", (1, 0): r"\downarrow\scriptstyle{%s}",
    (-1, 0): r"\uparrow\scriptstyle{%s}", (1, 1): r"\searrow\scriptstyle{%s}", (1, -1): r"\swarrow\scriptstyle{%s}",
    (-1, 1): r"\nearrow\scriptstyle{%s}", (-1, -1): r"\nwarrow\scriptstyle{%s}",
}  # fmt: skip
LARGEST = 12
"""Rows or columns of a diagram that is drawn."""


@dataclass(frozen=True, slots=True)
class DiagramArrow:
    """An arrow from a cell, how many rows and columns it goes, and its label."""

    row: int
    column: int
    down: int
    right: int
    label: str


def with_arrays(latex: str) -> str:
    r"""Return a formula whose diagrams are written as arrays.

    >>> with_arrays(r'\begin{tikzcd} A \arrow[r, "f"] & B \end{tikzcd}')
    '\\begin{array}{ccc}A & \\xrightarrow{f} & B\\end{array}'
    >>> with_arrays(r"\xymatrix{A \ar[d]_g \\ B}")
    '\\begin{array}{c}A \\\\ \\downarrow\\scriptstyle{g} \\\\ B\\end{array}'
    """
    if "tikzcd" not in latex and "xymatrix" not in latex and "{CD}" not in latex:
        return latex
    return _DIAGRAM.sub(_drawn, latex)


def _drawn(match: re.Match[str]) -> str:
    if match["cd"] is not None:
        return _cd_array(match["cd"])
    return _array(match["tikz"] or match["xy"] or "", is_tikz=match["xy"] is None)


def _cd_array(content: str) -> str:
    """Return objects and arrows in turn, `A @>f>g> B \\\\ @VhVV @VVkV \\\\ C @= D`, as cells; upright arrows stand under objects."""
    lines: list[list[str]] = []
    for line in re.split(r"\\\\", content.strip()):
        cells: list[str] = []
        place = 0
        for match in _CD_ARROW.finditer(line):
            between = line[place : match.start()].strip()
            cells += [between] if between or cells else []
            sign = _CD_SIGNS[match[1] or match[4]]
            first, second = (match[2] or "").strip(), (match[3] or "").strip()
            cells.append(
                sign % ((second, first) if match[1] in ("<", ">") else (first, second)) if match[1] else sign
            )
            place = match.end()
        rest = line[place:].strip()
        lines.append([*cells, rest] if rest else cells)
    width = max(map(len, lines))
    drawn = r" \\ ".join(" & ".join(cells) for cells in lines)
    return rf"\begin{{array}}{{{'c' * width}}}{drawn}\end{{array}}"


def _array(content: str, *, is_tikz: bool) -> str:
    cells: list[list[str]] = []
    arrows: list[DiagramArrow] = []
    for row, line in enumerate(re.split(r"\\\\(?:\[[^\[\]]*\])?", content.strip())):
        cells.append([])
        for column, cell in enumerate(re.split(r"(?<!\\)&", line)):
            found = _tikz_arrows(cell) if is_tikz else _xy_arrows(cell)
            arrows += [DiagramArrow(row, column, *way, label) for way, label in found]
            pattern = _TIKZ_ARROW if is_tikz else _XY_ARROW
            cells[-1].append(" ".join(pattern.sub(" ", cell).split()))
    while cells and not any(cells[-1]):
        cells.pop()
    height, width = len(cells), max(map(len, cells), default=0)
    if not 0 < height <= LARGEST or not 0 < width <= LARGEST:
        return r"\text{[diagram]}"
    grid = [[""] * (2 * width - 1) for _ in range(2 * height - 1)]
    for row, line_cells in enumerate(cells):
        for column, cell in enumerate(line_cells):
            grid[2 * row][2 * column] = cell
    long: list[str] = []
    for arrow in arrows:
        row, column = 2 * arrow.row + arrow.down, 2 * arrow.column + arrow.right
        inside = 0 <= arrow.row + arrow.down < height and 0 <= arrow.column + arrow.right < width
        sign = _SIGNS.get((arrow.down, arrow.right))
        if sign is not None and inside:
            grid[row][column] += sign.replace("%s", arrow.label)
        elif inside:
            target = cells[arrow.row + arrow.down]
            name = target[arrow.column + arrow.right] if arrow.column + arrow.right < len(target) else ""
            long.append(rf"{cells[arrow.row][arrow.column]} \xrightarrow{{{arrow.label}}} {name}")
    drawn = r" \\ ".join(" & ".join(line) for line in grid)
    array = rf"\begin{{array}}{{{'c' * (2 * width - 1)}}}{drawn}\end{{array}}"
    if not long:
        return array
    listed = r",\quad ".join(long)
    return rf"\begin{{array}}{{c}}{array} \\ {listed}\end{{array}}"


def _tikz_arrows(cell: str) -> list[tuple[tuple[int, int], str]]:
    found = []
    for match in _TIKZ_ARROW.finditer(cell):
        options = match["options"] or ""
        way = match["short"] or match["way"] or ""
        if not way:
            first = (part.strip() for part in _QUOTED.sub("", options).split(","))
            way = next((part for part in first if re.fullmatch(r"[udlr]+", part)), "")
        label = _QUOTED.search(options)
        said = label[1] if label is not None else match["label"] or ""
        found.append((_steps(way), said.strip("{}") if said.startswith("{") else said))
    return [(way, label) for way, label in found if way != (0, 0)]


def _xy_arrows(cell: str) -> list[tuple[tuple[int, int], str]]:
    found = []
    for match in _XY_ARROW.finditer(cell):
        label = _LABEL.search(match["labels"])
        said = label[1] if label is not None else ""
        found.append((_steps(match["way"]), said[1:-1] if said.startswith("{") else said))
    return [(way, label) for way, label in found if way != (0, 0)]


def _steps(way: str) -> tuple[int, int]:
    return way.count("d") - way.count("u"), way.count("r") - way.count("l")
