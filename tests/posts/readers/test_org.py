"""Scripts and entities of Org outside formulas."""

from __future__ import annotations

from pathlib import Path

from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report


def test_scripts_and_entities_outside_formulas_are_formulas(tmp_path: Path) -> None:
    text = (
        "#+TITLE: On x_1 and \\alpha\n\nLet a_n tend to x^{2} and \\beta_1, not foo_bar, snake_case_name, =a_b= or"
        " http://x_y.org/a_b.\n* Section x_i\nText \\to{}.\n"
    )
    (tmp_path / "a.org").write_text(text, encoding="utf-8")
    (post,) = read_posts(tmp_path, Report())
    assert post.title == "On $x_1$ and $\\alpha$"
    assert [formula.latex for formula in post.formulas] == [
        "x_1", "\\alpha", "a_n", "x^{2}", "\\beta_1", "x_i", "\\to",
    ]  # fmt: skip
    assert "foo_bar, snake_case_name" in post.body
    assert "http://x_y.org/a_b" in post.body
