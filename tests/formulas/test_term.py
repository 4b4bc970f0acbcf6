"""Terms of operator trees."""

from __future__ import annotations

from mathamr.formulas.parse import parse
from tests.formulas.term import term


def test_groups_and_words_have_names() -> None:
    assert term(parse("\\{a,b\\}").opt) == "set(a, b)"
    assert term(parse("(a,b,c)").opt) == "tuple(a, b, c)"
    assert term(parse("[0,1)").opt) == "closed-open-interval(0, 1)"
    assert term(parse("x_{\\text{max}}", reading="mathematician").opt) == 'SUB(x, "max")'


def test_letters_lose_their_font_and_nothing_else() -> None:
    assert term(parse("x\\in\\mathbb R").opt) == "in(x, R)"
    assert term(parse("\\epsilon=\\varepsilon").opt) == "eq(ε, ε)"


def test_a_deep_tree_is_no_recursion() -> None:
    latex = "\\frac1{" * 55 + "x" + "}" * 55
    assert term(parse(latex).opt).count("divide") == 55
