"""The mathematician's reading: it reads the gold set, and always ends within its budget."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.formulas.budget import Budget
from mathamr.formulas.latex.expandedlatex import ExpandedLatex
from mathamr.formulas.latex.node import Node
from mathamr.formulas.latex.symbols import SYMBOLS
from mathamr.formulas.meaning.mathematician import meaning
from mathamr.formulas.parse import NO_MACROS, FormulaError, _read, parse
from tests.cases import cases
from tests.formulas.gold import gold
from tests.formulas.term import term

GOLD = [*gold("seen"), *gold("heldout")]
PIECES = [
    *"abdfxyPA01(),.[]|^_{}+-=<!'/ :", "\\int", "\\sum", "\\lim", "\\frac{d}{dx}", "\\partial", "\\forall", "\\exists", "\\to",
    "\\implies", "\\mid", "\\pmod", "\\bmod", "\\sin", "\\log", "\\left\\{", "\\right.", "\\begin{array}{c}", "\\end{array}",
    "\\langle", "\\rangle", "\\mathbb Z", "\\circ", "\\times", "\\cup", "\\land", "\\neg", "\\text{ if }", "\\infty", "\\colon",
    "\\mapsto", "\\in", "\\equiv", "\\quad", "\\xrightarrow{f}", "dx", "\\max",
]  # fmt: skip


def nodes(latex: str) -> Node:
    return _read(ExpandedLatex(latex, NO_MACROS, Budget(len(latex))), wildcards=False)[0]


def test_formulas_are_read_as_published_and_as_a_mathematician_does() -> None:
    wrong = []
    for row in GOLD:
        published, meant = parse(row.latex), parse(row.latex, reading="mathematician")
        theirs = row.mathematician and term(meant.opt)
        if (term(published.opt), theirs) != row[2:] or meant.slt != published.slt:
            wrong.append((row, term(published.opt), theirs))
    assert not wrong


@cases(
    ("latex", "as_well"),
    [
        ("a || b", r"a \| b"),
        ("D(P||Q)", r"D(P\|Q)"),
        ("AB || CD", r"AB \| CD"),
        ("p^k||n", r"p^k\|n"),
        ("||x||", r"\|x\|"),
    ],
)
def test_two_bars_side_by_side_are_one_sign(latex: str, as_well: str) -> None:
    found = parse(latex, reading="mathematician").opt
    assert term(found) == term(parse(as_well, reading="mathematician").opt)
    assert "O!fragments" not in found.labels


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
    "\\lim_{x\\to" * 50, "a:b\\to " * 500, "\\pmod{" * 50, "\\int x" * 300 + "+1" * 300,
]  # fmt: skip


@cases("latex", BOMBS)
def test_the_budget_bounds_the_reading(latex: str) -> None:
    try:
        root = nodes(latex)
    except FormulaError:
        return
    budget = Budget(len(latex))
    meaning(root, budget)
    assert budget.left > -budget.limit
    parse(latex, reading="mathematician")


def test_a_reading_without_budget_keeps_the_published_tree() -> None:
    root = nodes("f(x)")
    budget = Budget(0)
    budget.left = 1
    assert meaning(root, budget) is root
    deep = "\\sin" * 120 + " x"
    assert parse(deep, reading="mathematician").opt == parse(deep).opt


def test_a_list_that_does_not_close_keeps_the_published_tree_where_it_stands() -> None:
    assert term(parse("\\frac{f(x)}{]a,b[}", reading="mathematician").opt).startswith("divide(f(x), ")
