"""Marks on nodes of a formula, in its LaTeX and as it is drawn."""

from __future__ import annotations

import re

import pytest
from hypothesis import given

from mathamr.formulas.alignment import VARIABLE, parts
from mathamr.formulas.latex.display.formula import displayed
from mathamr.formulas.latex.macros import Macros
from mathamr.formulas.marking import LONGEST, drawn_with_marks, stretches, symbols
from mathamr.formulas.mathml.element import Element
from mathamr.formulas.mathml.styles import STYLE
from mathamr.formulas.mathml.writing import typeset_to_mathml
from mathamr.formulas.parse import parse
from tests.formulas.generated import SLTS


def met(query: str, latex: str) -> set[int]:
    pairs = parts(parse(query).slt, parse(latex).slt)
    return {each.other for each in pairs if each.worth >= VARIABLE}


@pytest.mark.parametrize(
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


def marked_texts(element: Element) -> list[str]:
    """What stands in marked elements, the outermost ones."""
    if "matched" in element.attributes.get(STYLE, "").split(" "):
        return ["".join(each.text for each in element.iterate())]
    return [text for child in element.children for text in marked_texts(child)]


def test_marks_are_drawn_around_whole_pieces_and_nothing_else_changes() -> None:
    latex = r"c=\sqrt{a^2+b^2}-1"
    element = displayed(latex, Macros(), False)
    marked = drawn_with_marks(element, parse(latex).slt, met("a^2+b^2", latex))
    assert marked_texts(marked) == ["a2+b2"]
    plain = typeset_to_mathml(element, styling="classes")
    drawn = typeset_to_mathml(marked, styling="classes")
    assert "math-matched" in drawn
    assert re.sub(r"<[^>]*>", "", drawn) == re.sub(r"<[^>]*>", "", plain)


def test_without_nodes_and_in_endless_formulas_nothing_is_marked() -> None:
    element = displayed("a+b", Macros(), False)
    assert drawn_with_marks(element, parse("a+b").slt, ()) == element
    long = "+".join(["a"] * LONGEST)
    assert stretches(long, Macros(), parse(long).slt, range(10)) == []


@given(SLTS)
def test_every_symbol_is_of_a_node_and_in_bounds(tree: object) -> None:
    from mathamr.formulas.tree import Slt

    assert isinstance(tree, Slt)
    found = symbols(tree)
    assert all(0 <= symbol.node < len(tree) for symbol in found)
    counts = [sum(symbol.node == node for symbol in found) for node in range(len(tree))]
    assert max(counts) <= 2, "a node is one symbol, or two fences"


def test_a_formula_that_a_comment_hides_is_marked_where_it_stands() -> None:
    latex = "%x^2+y^2=z^2"
    marked = stretches(latex, Macros(), parse(latex).slt, met("x^2+y^2", latex))
    assert [latex[start:end] for start, end in marked] == ["x^2+y^2"]


@pytest.mark.parametrize("latex", ["%", "", "  %x"])
def test_latex_without_tokens_costs_only_its_marks(latex: str) -> None:
    assert stretches(latex, Macros(), parse("x^2").slt, [1]) == []
