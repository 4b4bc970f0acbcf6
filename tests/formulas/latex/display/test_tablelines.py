from __future__ import annotations

from mathamr.formulas.latex.display.tablelines import MATRIX, Cell, TableLine, columns_of, table
from mathamr.formulas.mathml.element import Element
from tests.formulas.latex.display.drawing import drawn, first, styles_of, text_of


def styles(latex: str) -> list[list[set[str]]]:
    found = first(drawn(latex), "mtable")
    return [[set(styles_of(cell)) for cell in row.children] for row in found.children]


def test_columns_stand_on_their_sides() -> None:
    rows = styles(r"\begin{array}{lrc}a&b&c\\d&e&f\end{array}")
    for row in rows:
        assert [cell & {"left", "right"} for cell in row] == [{"left"}, {"right"}, set()]


def test_upright_rules_stand_before_and_after_columns() -> None:
    rows = styles(r"\begin{array}{|l|c:r|}a&b&c\end{array}")
    rules = {"before", "after", "before-dashed"}
    assert [cell & rules for cell in rows[0]] == [{"before"}, {"before"}, {"before-dashed", "after"}]


def test_rules_across_stand_above_and_below_rows() -> None:
    rows = styles(r"\begin{array}{cc}\hline a&b\\\cline{2-2}c&d\\\hline\end{array}")
    across = {"above", "below"}
    assert [[cell & across for cell in row] for row in rows] == [
        [{"above"}, {"above"}],
        [{"below"}, {"above", "below"}],
    ]


def test_cells_over_several_columns() -> None:
    cells = first(drawn(r"\begin{array}{ccc}\multicolumn{2}{r|}{ab}&c\\d&e&f\end{array}"), "mtr").children
    assert cells[0].attributes["columnspan"] == "2"
    assert {"right", "after"} <= set(styles_of(cells[0]))
    assert len(cells) == 2


def test_templates_are_read() -> None:
    assert columns_of("*{2}{l|}@{\\quad}p{3cm}") == (("left", "left", "left"), {1: "", 2: ""})
    assert columns_of("") == ((), {})
    assert len(columns_of("*{999}{*{999}{c}}")[0]) <= 200


def test_every_row_has_the_height_of_a_line_and_what_is_asked_for() -> None:
    rows = first(drawn(r"\begin{matrix}a\\[1em]b\end{matrix}"), "mtable").children
    struts = [first(row, "mspace").attributes for row in rows]
    assert [strut["depth"] for strut in struts] == ["1.31em", "0.31em"]
    assert text_of(rows[0]) == "a"


def test_short_lines_are_filled_up() -> None:
    lines = [
        TableLine([Cell(Element("mi", "a"))]),
        TableLine([Cell(Element("mi", "b")), Cell(Element("mi", "c"))]),
    ]
    assert [len(row.children) for row in table(lines, MATRIX).children] == [2, 2]
