"""A source may be read for a drawing and for a tree, in any order."""

from __future__ import annotations

from mathamr.formulas.budget import Budget
from mathamr.formulas.latex.display.formula import displayed, drawn
from mathamr.formulas.latex.expandedlatex import ExpandedLatex
from mathamr.formulas.latex.macros import Macros
from mathamr.formulas.marking import placed_tree
from mathamr.formulas.parse import parse
from tests.cases import cases

MACROS = Macros.of([r"\newcommand{\half}[1]{\frac{#1}{2}}"])


@cases(
    "latex",
    [
        r"\half{a+b}",
        r"\pdv{f}{x}+\ev{A}{b}",
        r"a&=b\\c&=d",
        r"\text{if \textcolor{red}{x} is $\half y$}",
        "% x^2",
    ],
)
def test_each_reading_finds_the_source_as_it_was(latex: str) -> None:
    source = ExpandedLatex(latex, MACROS, Budget(len(latex)))
    for _ in range(2):
        assert drawn(source, display=True) == displayed(latex, MACROS, display=True)
        placed = placed_tree(source)
        assert placed is not None
        assert placed.tree == parse(latex, MACROS).slt


def test_the_symbols_of_a_macro_are_where_it_is_called() -> None:
    latex = r"x+\half{2}y"
    source = ExpandedLatex(latex, MACROS, Budget(len(latex)))
    shown = {
        token: latex[start:end] for token, (start, end) in zip(source.tokens, source.ranges(), strict=True)
    }
    assert (shown["x"], shown["\\frac"], shown["y"]) == ("x", r"\half", "y")


def test_no_reading_spends_what_another_needs() -> None:
    latex = "a+b" * 900
    source = ExpandedLatex(latex, Macros(), Budget(len(latex)))
    left = source.budget.left
    for _ in range(20):
        assert placed_tree(source) is not None
    assert source.budget.left == left
