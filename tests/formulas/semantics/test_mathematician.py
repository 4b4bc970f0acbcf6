"""The reading as a whole: any input has a tree or a clear error, within its budget."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.formulas.budget import Budget
from mathamr.formulas.latex.content import mean
from mathamr.formulas.latex.node import Node
from mathamr.formulas.latex.symbols import SYMBOLS
from mathamr.formulas.mathml.operatortree import opt
from mathamr.formulas.parse import NO_MACROS, FormulaError, _read, parse
from mathamr.formulas.semantics.mathematician import KEPT, Mathematician, meaning
from tests.formulas.semantics.gold import gold
from tests.formulas.term import term

PIECES = [
    *"abdfxyPA01(),.[]|^_{}+-=<!'/ :", "\\int", "\\sum", "\\lim", "\\frac{d}{dx}", "\\partial", "\\forall", "\\exists", "\\to",
    "\\implies", "\\mid", "\\pmod", "\\bmod", "\\sin", "\\log", "\\left\\{", "\\right.", "\\begin{array}{c}", "\\end{array}",
    "\\langle", "\\rangle", "\\mathbb Z", "\\circ", "\\times", "\\cup", "\\land", "\\neg", "\\text{ if }", "\\infty", "\\colon",
    "\\mapsto", "\\in", "\\equiv", "\\quad", "\\xrightarrow{f}", "dx", "\\max",
]  # fmt: skip


def nodes(latex: str) -> Node:
    return _read(latex, NO_MACROS, False, Budget(len(latex)))[0]


@given(
    st.lists(st.one_of(st.sampled_from(PIECES), st.sampled_from(sorted(SYMBOLS))), max_size=14).map(" ".join)
)
def test_what_has_a_published_tree_has_a_meaning(latex: str) -> None:
    try:
        published = parse(latex)
    except FormulaError:
        with pytest.raises(FormulaError):
            parse(latex, reading="mathematician")
        return
    formula = parse(latex, reading="mathematician")
    assert formula.slt == published.slt
    assert len(formula.opt) >= 1


BOMBS = [
    "\\sin" * 400, "\\sum" * 400, "\\int" * 400, "f(" * 200 + "x" + ")" * 200, "x^{" * 58 + "}" * 58, "\\forall x" * 400,
    "|" * 2000, "a/" * 2000, "-" * 3000, "a\\land a=" * 500, "a\\implies " * 800, "\\frac{d}{dx}" * 300, "'" * 500, "1,000" * 500,
    "\\text{and}x" * 400, "\\partial" * 400, "f" * 3000, "\\{" * 300 + "\\}" * 300, "(a,b)" * 800, "dx" * 2000, "\\neg" * 500,
    "\\lim_{x\\to" * 50, "a:b\\to " * 500, "\\pmod{" * 50,
]  # fmt: skip


@pytest.mark.parametrize("latex", BOMBS, ids=lambda latex: f"{latex[:12]}…{len(latex)}")
def test_the_budget_bounds_the_reading(latex: str) -> None:
    try:
        root = nodes(latex)
    except FormulaError:
        return
    budget = Budget(len(latex))
    meaning(root, budget)
    assert budget.left > -budget.limit
    parse(latex, reading="mathematician")


def test_a_reading_without_budget_keeps_the_published_tree_and_says_so() -> None:
    root = nodes("f(x)")
    budget = Budget(0)
    budget.left = 3
    found = meaning(root, budget)
    assert found.node is root
    assert found.decisions == (KEPT,)


def test_a_formula_nested_too_deeply_keeps_the_published_tree() -> None:
    formula = parse("\\sin" * 120 + " x", reading="mathematician")
    assert formula.decisions == (KEPT,)
    assert formula.opt == parse("\\sin" * 120 + " x").opt


def test_a_list_that_does_not_close_keeps_the_published_tree_where_it_stands() -> None:
    formula = parse("\\frac{f(x)}{]a,b[}", reading="mathematician")
    assert term(formula.opt).startswith("divide(f(x), ")
    assert any(decision.choice == "the published reading" for decision in formula.decisions)


def test_shared_nodes_are_read_once() -> None:
    root = nodes("\\dv{f(x)}{x}")
    budget = Budget(12)
    meaning(root, budget)
    assert budget.limit - budget.left < 200


def test_a_list_of_one_symbol_means_and_costs_what_its_long_form_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def read() -> list[tuple[object, ...]]:
        found: list[tuple[object, ...]] = []
        for row in gold("seen")[::2]:
            budget = Budget(len(row.latex))
            made = meaning(nodes(row.latex), budget)
            found.append((opt(mean(made.node)), made.decisions, made.functions, made.variables, budget.left))
        return found

    short = read()
    calls: list[Node] = []
    own = Mathematician._is_itself
    monkeypatch.setattr(
        Mathematician,
        "_is_itself",
        lambda self, node, steps: calls.append(node) if own(self, node, 0) else None,
    )
    assert read() == short
    assert calls
