"""Patterns with wildcards against formulas."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mathamr.formulas.label import value
from mathamr.formulas.parse import parse
from mathamr.formulas.tree import Opt
from mathamr.search.formulamatch import matched_nodes, taken_nodes
from mathamr.search.wildcards import fit, has_wildcards
from tests.cases import cases


def opt(latex: str) -> Opt:
    return parse(latex, wildcards=True).opt


@cases(
    ("pattern", "formula", "expected"),
    [
        ("?a^2", "x^2", "whole"),
        ("?a^2", "(x+y)^2", "whole"),
        ("?a^2", "x^3", None),
        ("?a^2", "1+x^2", "inside"),
        ("?a^2 + ?a", "x^2 + x", "whole"),
        ("?a^2 + ?a", "x^2 + y", None),
        ("?a + ?a^2", "x^2 + x", "whole"),  # operands of a sum come in any order
        ("?a - ?b", "b - a", "whole"),
        ("x - ?b", "y - x", None),  # those of a difference do not
        ("\\frac{?a}{?a+1}", "\\frac{n^2}{n^2+1}", "whole"),
        ("\\frac{?a}{?a+1}", "\\frac{n^2}{n+1}", None),
        ("\\sqrt{?x}", "\\sqrt{1+\\sqrt{2}}", "whole"),
        ("x + ?a", "x + y + z", None),  # a wildcard is one operand, not several
        ("?a", "x+1", "whole"),
    ],
)
def test_fit(pattern: str, formula: str, expected: str | None) -> None:
    assert fit(opt(pattern), opt(formula)) == expected


def test_only_question_marks_make_a_pattern() -> None:
    assert has_wildcards(opt("?a+1"))
    assert not has_wildcards(opt("a+1"))
    assert not has_wildcards(None)


_latex = st.recursive(
    st.sampled_from(["x", "y", "1", "n"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda two: f"({two[0]})+({two[1]})"),
        st.tuples(inner, inner).map(lambda two: f"\\frac{{{two[0]}}}{{{two[1]}}}"),
        inner.map(lambda one: f"\\sqrt{{{one}}}"),
    ),
    max_leaves=6,
)


@given(_latex, _latex)
def test_a_formula_without_wildcards_fits_itself_and_a_wildcard_fits_any(one: str, other: str) -> None:
    assert fit(opt(one), opt(one)) == "whole"
    assert fit(opt("?a"), opt(one)) == "whole"
    assert fit(opt(f"\\frac{{?a}}{{{other}}}"), opt(f"\\frac{{{one}}}{{{other}}}")) == "whole"


def test_a_hard_pattern_ends() -> None:
    pattern = opt("+".join(["?a"] * 5 + [f"?{name}" for name in "bcdefgh"] + ["q"]))
    assert fit(pattern, opt("+".join(f"x_{{{number}}}" for number in range(13)))) is None


def test_what_wildcards_took_is_told_and_what_the_query_has_itself_is_not() -> None:
    def marked(query: str, found: str) -> list[str]:
        ours, theirs = parse(query, wildcards=True), parse(found)
        matched = matched_nodes(ours.slt, theirs.slt)
        nodes = taken_nodes((ours.opt, ours.slt), (theirs.opt, theirs.slt), matched)
        return sorted(value(theirs.slt.labels[node]) for node in nodes)

    assert marked("?a^2+?b^2", "x^2+y^2") == ["x", "y"]
    assert marked("?a^2", "c=x^2") == ["x"]
    assert marked("\\frac{1}{?x}", "P_n = \\frac{1}{n}") == ["n"]
    assert marked("?a^{?p} \\equiv ?a", "a^p \\equiv a") == ["a", "a", "p"]
    assert marked("?a^2", "x^3") == []
    assert marked("x^2", "x^2") == []
