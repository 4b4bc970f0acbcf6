"""What is ambiguous is decided by the formula, then by the post, and said."""

from __future__ import annotations

import pickle

import pytest

from mathamr.core.errors import UnknownNameError
from mathamr.formulas.parse import Context, FormulaParser, context_of, parse
from tests.formulas.term import term


def decided(latex: str, *post: str) -> dict[str, tuple[str, str]]:
    formula = parse(latex, reading="mathematician", context=context_of(post))
    return {decision.subject: (decision.choice, decision.reason) for decision in formula.decisions}


def test_the_name_decides_where_nothing_else_does() -> None:
    assert decided("f(x+1)") == {"f(…)": ("f applied", "f is a usual name of a function")}
    assert decided("c(x+1)") == {"c(…)": ("a product", "c is a usual name of a number")}


def test_the_formula_decides_before_the_post() -> None:
    assert decided("y(y+1)", "y(0)=1")["y(…)"] == ("a product", "y occurs in the parentheses itself")


def test_the_post_decides_before_the_name() -> None:
    assert decided("c(x+1)", "c:A\\to B")["c(…)"] == ("c applied", "c is applied elsewhere in the post")
    assert decided("P(x+1)", "P(P+1)")["P(…)"] == ("a product", "P is a factor elsewhere in the post")


def test_a_function_that_shows_itself_late_makes_the_formula_be_read_again() -> None:
    formula = parse("k(x-1)+k(x,y)", reading="mathematician")
    assert term(formula.opt) == "plus(k(minus(x, 1)), k(x, y))"
    assert term(parse("x'+x(t)", reading="mathematician").opt) == "plus(derivative(x), x(t))"


def test_what_a_post_says_about_its_letters() -> None:
    context = context_of(["f:A\\to B", "n(n+1)", "y(0)=1", "\\broken{", ""])
    assert context == Context(frozenset({"f", "y"}), frozenset({"n"}))


def test_every_formula_of_the_gold_topics_of_choice_says_its_choice() -> None:
    for latex in ("(a,b)", "1,000", "x^T", "a/bc", "A_{ij}", "G/N", "\\sin^{-1}x", "[A,B]", "p\\to q", "x'"):
        assert parse(latex, reading="mathematician").decisions, latex


def test_decisions_are_shown_to_people_and_programs() -> None:
    formula = parse("f(x)", reading="mathematician")
    assert "  decided: f(…): f applied, because f is a usual name of a function" in formula.lines()
    shown = formula.to_dict()
    assert shown["reading"] == "mathematician"
    assert shown["decisions"] == [
        {"subject": "f(…)", "choice": "f applied", "reason": "f is a usual name of a function"}
    ]
    assert "decisions" not in parse("f(x)").to_dict()
    assert pickle.loads(pickle.dumps(formula)) == formula


def test_a_parser_reads_within_a_post() -> None:
    parser = FormulaParser(["\\newcommand{\\E}{\\mathbb E}"], reading="mathematician")
    assert term(parser.parse("c(x+1)").opt) == "times(c, plus(x, 1))"
    inside = parser.within(context_of(["c(0)=1"]))
    assert term(inside.parse("c(x+1)").opt) == "c(plus(x, 1))"
    assert term(inside.parse("\\E[X]").opt) == "E(X)"


def test_an_unknown_reading_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="published, mathematician"):
        parse("x", reading="physicist")
    with pytest.raises(UnknownNameError, match="published, mathematician"):
        FormulaParser(reading="physicist")
