"""Marks on nodes of a formula, in its LaTeX and as it is drawn."""

from __future__ import annotations

import re
from collections.abc import Collection

import pytest

from mathamr.formulas.alignment import VARIABLE, parts
from mathamr.formulas.budget import Budget
from mathamr.formulas.latex.display.formula import displayed
from mathamr.formulas.latex.expandedlatex import ExpandedLatex
from mathamr.formulas.latex.macros import Macros
from mathamr.formulas.latex.unicode import unicode_to_latex
from mathamr.formulas.marking import drawn_with_marks, placed_tree, stretches
from mathamr.formulas.mathml.element import Element
from mathamr.formulas.mathml.styles import STYLE
from mathamr.formulas.mathml.writing import to_mathml
from mathamr.formulas.parse import parse
from tests.cases import cases


def met(query: str, latex: str) -> set[int]:
    pairs = parts(parse(query).slt, parse(latex).slt)
    return {each.other for each in pairs if each.worth >= VARIABLE}


@cases(
    ("query", "latex", "expected"),
    [
        ("a^2+b^2", r"c=\sqrt{a^2+b^2}-1", ["a^2+b^2"]),
        (r"\sum_{j=1}^\infty\frac1{j^2}", r"s=\sum_{n=1}^{\infty}\frac{1}{n^{2}}=6", [r"\sum_{n=1}^{\infty}\frac{1}{n^{2}}"]),
        ("x^2+12x", "3+y^{2}+12y=0", ["y^{2}+12y"]),
        ("f(x+1)", r"g=\int f(x+1)\,dx", ["f(x+1)"]),
        (r"\alpha+\beta", r"2\left(\alpha+\beta\right)", [r"\alpha+\beta"]),
        ("a+b", "c^d", []),
    ],
)  # fmt: skip
def test_the_parts_that_both_have_are_marked_in_the_latex(
    query: str, latex: str, expected: list[str]
) -> None:
    found = stretches(latex, Macros(), parse(latex).slt, met(query, latex))
    assert [latex[start:end] for start, end in found] == expected


def test_what_a_macro_writes_is_marked_where_it_is_called() -> None:
    macros = Macros.of([r"\newcommand{\R}{\mathbb{R}}"])
    latex = r"x\in\R"
    tree = parse(latex, macros).slt
    number = tree.labels.index("V!ℝ")
    assert [latex[start:end] for start, end in stretches(latex, macros, tree, [number])] == [r"\R"]


def source(latex: str) -> ExpandedLatex:
    return ExpandedLatex(unicode_to_latex(latex), Macros(), Budget(len(latex)))


def marked_texts(element: Element) -> list[str]:
    """What stands in marked elements, the outermost ones."""
    if "matched" in element.attributes.get(STYLE, "").split(" "):
        return ["".join(each.text for each in element.iterate())]
    return [text for child in element.children for text in marked_texts(child)]


def marked(latex: str, nodes: Collection[int]) -> Element:
    placed = placed_tree(source(latex))
    assert placed is not None
    return drawn_with_marks(displayed(latex, Macros(), display=False), placed.places(nodes))


def test_marks_are_drawn_around_whole_pieces_and_nothing_else_changes() -> None:
    latex = r"c=\sqrt{a^2+b^2}-1"
    drawn = marked(latex, met("a^2+b^2", latex))
    assert marked_texts(drawn) == ["a2+b2"]
    plain = to_mathml(displayed(latex, Macros(), display=False), styling="classes")
    written = to_mathml(drawn, styling="classes")
    assert "math-matched" in written
    assert re.sub(r"<[^>]*>", "", written) == re.sub(r"<[^>]*>", "", plain)


@cases(
    "latex",
    [r"\sum_{n=1}^\infty\frac{x^n}{n!}", r"f'(x)\ne\left|\hat y\right|", r"\begin{pmatrix}a&b\\c&12\end{pmatrix}",
     r"\operatorname{tr}A\le\|B\|_2", r"\dv{f}{x}+\text{if }y\in\mathbb{R}", r"a\pmod{n}", r"x²+ℝ≤√2"],
)  # fmt: skip
def test_every_symbol_of_a_tree_is_drawn_and_written_somewhere(latex: str) -> None:
    tree = parse(unicode_to_latex(latex)).slt
    placed = placed_tree(source(latex))
    assert placed is not None
    assert placed.tree == tree
    element = displayed(latex, Macros(), display=False)
    drawn = {place for each in element.iterate() for place in each.origin}
    for node, label in enumerate(tree.labels):
        is_symbol = not label.startswith(("O!", "W!")) and not re.fullmatch(
            r"M!([()\[\]|{}]*)[0-9]+x[0-9]+", label
        )
        if is_symbol:
            assert placed.origins[node], label
            assert drawn.intersection(placed.origins[node]), label
    assert stretches(latex, Macros(), tree, range(len(tree))) != []


def test_symbols_that_look_the_same_are_told_apart() -> None:
    latex = "x+x+x"
    for node, start in ((0, 0), (2, 2), (4, 4)):
        assert stretches(latex, Macros(), parse(latex).slt, [node]) == [(start, start + 1)]


def test_unicode_is_marked_as_it_was_typed() -> None:
    latex = "x² ≤ √12"
    tree = parse(unicode_to_latex(latex)).slt
    for label, written in (("N!2", "²"), ("≤", "≤"), ("V!x", "x")):
        found = stretches(latex, Macros(), tree, [tree.labels.index(label)])
        assert [latex[start:end] for start, end in found] == [written]


def test_without_nodes_nothing_is_marked() -> None:
    element = displayed("a+b", Macros(), display=False)
    assert drawn_with_marks(element, ()) == element
    assert stretches("a+b", Macros(), parse("a+b").slt, ()) == []
    assert stretches("a+b", Macros(), parse("a+c").slt, [0]) == []


def test_a_formula_that_a_comment_hides_is_marked_where_it_stands() -> None:
    latex = "%x^2+y^2=z^2"
    found = stretches(latex, Macros(), parse(latex).slt, met("x^2+y^2", latex))
    assert [latex[start:end] for start, end in found] == ["x^2+y^2"]


@pytest.mark.parametrize("latex", ["%", "", "  %x"])
def test_latex_without_tokens_costs_only_its_marks(latex: str) -> None:
    assert stretches(latex, Macros(), parse("x^2").slt, [1]) == []
