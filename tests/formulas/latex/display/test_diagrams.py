from __future__ import annotations

from tests.formulas.latex.display.drawing import drawn, first, text_of


def test_objects_and_arrows_of_a_diagram_stand_in_a_table() -> None:
    table = first(drawn(r"\begin{CD}A @>f>> B\\@VgVV @VVhV\\C @>>k> D\end{CD}"), "mtable")
    assert [[text_of(cell) for cell in row.children] for row in table.children] == [
        ["A", "→f", "B"],
        ["gg↓".replace("gg", "g") + "g", "", "h↓h"],
        ["C", "→k", "D"],
    ]
    arrow = first(table, "mover")
    assert arrow.children[0].attributes["stretchy"] == "true"


def test_labels_of_upright_arrows_are_small_and_balanced() -> None:
    cell = drawn(r"\begin{CD}A\\@VgVV\\B\end{CD}").children[1].children[0]
    assert [part.tag for part in first(cell, "mrow").children] == ["mstyle", "mo", "mphantom"]
    assert first(cell, "mstyle").attributes["scriptlevel"] == "1"


def test_equal_signs_and_empty_arrows() -> None:
    table = drawn(r"\begin{CD}A @= B\\@| @.\\C @. D\end{CD}")
    assert [[text_of(cell) for cell in row.children] for row in table.children] == [
        ["A", "=", "B"],
        ["‖", "", ""],
        ["C", "", "D"],
    ]


def test_the_objects_of_an_xymatrix_are_shown() -> None:
    assert text_of(drawn(r"\xymatrix{A \ar[r]^f & B \\ C \ar@{->}[u] & D}")) == "ABCD"
