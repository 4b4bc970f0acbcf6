"""Scripts and entities of Org outside formulas."""

from __future__ import annotations

from pathlib import Path

from tests.posts.reading import read_files


def test_scripts_and_entities_outside_formulas_are_formulas(tmp_path: Path) -> None:
    text = (
        "#+TITLE: On x_1 and \\alpha\n\nLet a_n tend to x^{2} and \\beta_1, not foo_bar, snake_case_name, =a_b= or"
        " http://x_y.org/a_b.\n* Section x_i\nText \\to{}.\n"
    )
    post = read_files(tmp_path, a_org=text)[0]["a.org"]
    assert post.title == "On $x_1$ and $\\alpha$"
    assert [formula.latex for formula in post.formulas] == [
        "x_1", "\\alpha", "a_n", "x^{2}", "\\beta_1", "x_i", "\\to",
    ]  # fmt: skip
    assert "foo_bar, snake_case_name" in post.body
    assert "http://x_y.org/a_b" in post.body


def test_lines_of_an_equation_are_no_rows_and_no_items(tmp_path: Path) -> None:
    text = (
        "Sylow: let\n\\[\n|G|=p^a m\n- 1\n+ 2\n\\]\nhold.\n\n|G|=p^a m stands alone.\n\nSo\n|H| \\le 2, and $x$\n\n"
        "| name | order |\n|------+-------|\n| S_3  | 6     |\n| A_4  | 12\n"
    )
    post = read_files(tmp_path, a_org=text)[0]["a.org"]
    latex = [formula.latex for formula in post.formulas]
    assert latex[0] == "|G|=p^a m\n- 1\n+ 2"
    assert "<p>|G|=" in post.body
    assert "So\n|H|" in post.body
    assert post.body.count("<tr>") == 3
    assert "<td>12</td>" in post.body
