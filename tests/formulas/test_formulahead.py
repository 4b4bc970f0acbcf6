"""The head of a formula: its symbols, their names, and what the formula says of them."""

from __future__ import annotations

import pytest

from mathamr.formulas.formulahead import FormulaHead


@pytest.mark.parametrize(
    ("latex", "kind", "symbols"),
    [
        ("x_1, \\dots, x_n", "b", ["x"]),
        ("f\\colon X \\to Y", "t", ["f"]),
        ("n := 2", "d", ["n"]),
        ("n \\coloneqq 2", "d", ["n"]),
        ("f(x) = x^2", "e", ["f"]),
        ("i = 1, \\dots, n", "r", ["i"]),
        ("k \\leq n", "i", ["k"]),
        ("x, y \\in A", "c", ["x", "y"]),
        ("a \\to b", "x", ["a"]),
        ("1 \\leq i \\leq n", "c", ["i"]),
        ("A \\subset U \\subset B", "c", ["U"]),
        ("0 < t < 1", "i", []),
        ("f(x) \\leq 3", "i", []),
        ("(X, d)", "b", ["X"]),
        ("\\{x_n\\}_{n \\in N}", "b", ["x"]),
        ("{x_{n}}", "b", ["x"]),
        ("\\hat\\theta_n = 3", "e", ["θ\u0302"]),
        ("f'", "b", ["f'"]),
        ("V^*", "b", ["V*"]),
        ("S^{-1}", "b", ["S^{-1}"]),
        ("f^{-1}(V)", "b", []),
        ("\\operatorname{rk} A", "b", ["rk"]),
        ("\\sh{F}_1", "b", ["F"]),
        ("\\begin{aligned} A &= 3 \\\\ B &= 4 \\end{aligned}", "e", ["A"]),
        ("|G|", "b", ["|G|"]),
        ("G/H", "b", ["G/H"]),
        ("x+1 = 2", "e", []),
        ("", "b", []),
        ("\\frac{", "b", []),
    ],
)
def test_a_head_names_its_symbols(latex: str, kind: str, symbols: list[str]) -> None:
    head = FormulaHead(latex)
    assert [each[0] for each in head.symbols()] == symbols
    assert head.kind == kind or not latex.strip("{\\frac")


def test_a_symbol_is_told_as_it_is_written_and_what_follows_it() -> None:
    assert FormulaHead("\\bar X_n = \\frac{S}{n}").symbols() == [("X\u0304", "\\bar X_n", "$= \\frac{S}{n}$")]


def test_macros_are_read() -> None:
    macros = ("\\newcommand{\\E}{\\mathbb{E}}", "\\newcommand{\\defn}{\\mathrel{:=}}")
    assert [each[0] for each in FormulaHead("\\E[X] = 1", macros).symbols()] == ["𝔼"]


def test_a_deep_formula_does_not_take_long() -> None:
    assert FormulaHead("{" * 500 + "x" + "}" * 500).symbols() in ([], [("x", "x", "")])
    assert len(FormulaHead(", ".join(map(chr, range(0x391, 0x3A0))) * 20).symbols()) <= 40
    assert FormulaHead("x \\in " + "a + " * 2_000 + "b").symbols() == []
