from __future__ import annotations

import pytest

from tests.formulas.latex.display.drawing import drawn, first, shown, styles_of, text_of
from tests.formulas.latex.display.test_tablelines import styles


@pytest.mark.parametrize("name", ["align", "align*", "aligned", "split", "flalign"])
def test_alignments_meet_without_a_gap_before_the_relation(name: str) -> None:
    latex = rf"\begin{{{name}}}a&=b\\c+d&=e\end{{{name}}}"
    for row in styles(latex):
        assert [cell & {"left", "right", "line"} for cell in row] == [{"right", "line"}, {"left", "line"}]
    assert first(drawn(latex), "mtable").attributes["displaystyle"] == "true"
    assert first(drawn(latex), "mo", "=").attributes["lspace"] == "0.2778em"  # after an unseen operand


def test_pairs_of_columns_stand_apart_unless_they_are_counted() -> None:
    assert ["apart" in cell for cell in styles(r"\begin{align}a&=b&c&=d\end{align}")[0]] == [
        False,
        False,
        True,
        False,
    ]
    assert not any("apart" in cell for cell in styles(r"\begin{alignat}{2}a&=b&c&=d\end{alignat}")[0])


@pytest.mark.parametrize(
    ("name", "fences"),
    [("pmatrix", "()"), ("bmatrix", "[]"), ("vmatrix", "||"), ("Bmatrix", "{}"), ("matrix", "")],
)
def test_matrices_have_their_delimiters(name: str, fences: str) -> None:
    matrix = drawn(rf"\begin{{{name}}}a&b\\c&d\end{{{name}}}")
    assert text_of(matrix) == fences[:1] + "abcd" + fences[1:]
    if fences:
        assert all(fence.attributes["stretchy"] == "true" for fence in matrix.iterate() if fence.tag == "mo")


def test_starred_matrices_choose_a_side() -> None:
    assert "right" in styles(r"\begin{pmatrix*}[r]1&-2\end{pmatrix*}")[0][0]


def test_small_matrices_are_small() -> None:
    assert first(drawn(r"\begin{smallmatrix}a\end{smallmatrix}"), "mtable").attributes["scriptlevel"] == "1"


def test_cases_stand_on_the_left_behind_one_brace() -> None:
    cases = drawn(r"\begin{cases}1&x>0\\0&\text{else}\end{cases}")
    assert text_of(cases) == "{1x>00else"
    assert all("left" in cell for row in styles(r"\begin{cases}1&x\\0&y\end{cases}") for cell in row)
    assert text_of(drawn(r"\begin{rcases}a\\b\end{rcases}")) == "ab}"


def test_lines_of_multline_go_from_left_to_right() -> None:
    rows = styles(r"\begin{multline}a\\b\\c\end{multline}")
    assert [row[0] & {"left", "right"} for row in rows] == [{"left"}, set(), {"right"}]


def test_numbers_stand_behind_their_lines() -> None:
    rows = first(drawn(r"\begin{align}a&=b\tag{1}\\c&=d\end{align}"), "mtable").children
    assert [len(row.children) for row in rows] == [3, 2]
    assert text_of(rows[0].children[2]) == "(1)"
    assert "tag" in styles_of(rows[0].children[2])


def test_breaks_outside_of_environments_are_lines() -> None:
    table = drawn(r"a=b\\[2ex]c=d")
    assert (table.tag, [text_of(row) for row in table.children]) == ("mtable", ["a=b", "c=d"])
    assert [text_of(row) for row in drawn(r"a&=b\\c&=d").children] == ["a=b", "c=d"]
    assert text_of(drawn(r"a{b\\[2ex]c}")) == "abc"


def test_a_stray_alignment_is_shown() -> None:
    assert text_of(drawn("a & b")) == "a&b"


def test_conditions_are_stacked() -> None:
    assert [text_of(row) for row in first(drawn(r"\sum_{\substack{a\\b}}"), "mtable").children] == ["a", "b"]
    assert shown(r"\matrix{a&b\cr c&d}") == shown(r"\begin{matrix}a&b\\c&d\end{matrix}")


def test_the_objects_of_an_xymatrix_are_shown() -> None:
    assert text_of(drawn(r"\xymatrix{A \ar[r]^f & B \\ C \ar@{->}[u] & D}")) == "ABCD"
