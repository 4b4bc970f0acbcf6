"""Formulas laid on each other: hand-worked trees, renamed variables, and bounds."""

from __future__ import annotations

import pytest
from hypothesis import given

from mathamr.formulas.alignment import (
    LARGEST,
    NUMBER,
    OPERAND,
    VARIABLE,
    align,
    label_worth,
    parts,
    similarity,
    work,
)
from mathamr.formulas.notation import opt_from_string
from mathamr.formulas.parse import parse
from mathamr.formulas.tree import Opt, Slt
from tests.formulas.generated import OPTS


def trees(latex: str) -> tuple[Opt | None, Slt | None]:
    parsed = parse(latex)
    return parsed.opt, parsed.slt


def test_a_hand_worked_alignment() -> None:
    query = opt_from_string("[U!plus,0[V!a],1[O!SUP,0[V!b],1[N!2]]]")
    found = opt_from_string("[U!plus,0[O!SUP,0[V!x],1[N!2]],1[V!a]]")
    aligned = align(query, found)
    # plus 1, a with a 1, SUP 1, b with x VARIABLE, 2 with 2 1: four whole nodes and a renamed one of five.
    assert aligned.overlap == pytest.approx((4 + VARIABLE) / 5)
    assert [(pair.node, pair.other) for pair in aligned.pairs] == [(0, 0), (1, 4), (2, 1), (3, 2), (4, 3)]
    # Every node by its best partner: the root 4.6, a 1, SUP 2.6, b VARIABLE, 2 1, of 5 + 1 + 3 + 1 + 1.
    assert aligned.spread == pytest.approx((4.6 + 1 + 2.6 + VARIABLE + 1) / 11)


def test_ordered_operands_keep_their_places() -> None:
    forth, back = opt_from_string("[O!minus,0[V!a],1[N!1]]"), opt_from_string("[O!minus,0[N!1],1[V!a]]")
    assert align(forth, back).overlap == pytest.approx((1 + 2 * OPERAND) / 3)
    assert align(forth, forth).overlap == 1.0


def test_labels_are_worth_what_they_have_in_common() -> None:
    assert label_worth("V!x", "V!x") == 1.0
    assert label_worth("V!x", "V!y") == VARIABLE
    assert label_worth("N!1", "N!2") == NUMBER
    assert label_worth("N!1", "V!x") == OPERAND
    assert label_worth("U!plus", "O!minus") == 0.0
    assert label_worth("+", "V!x") == 0.0


def test_a_renamed_formula_comes_before_one_that_shares_letters() -> None:
    pascal = trees(r"\binom{a}{b}=\binom{a-1}{b-1}+\binom{a-1}{b}")
    renamed = trees(r"\binom{n}{k}=\binom{n-1}{k-1}+\binom{n-1}{k}")
    others = [r"\binom{a}{b}", r"\binom{a+b}{a}=\binom{a+b}{b}", r"\sum_{b}\binom{a}{b}=2^a"]
    assert all(similarity(pascal, renamed) > similarity(pascal, trees(other)) for other in others)


def test_what_has_nothing_in_common_is_worth_nothing() -> None:
    assert similarity(trees(r"a \subset b"), (None, None)) == 0.0
    assert align(opt_from_string("[U!plus]"), opt_from_string("[O!minus]")).pairs == ()


@given(OPTS)
def test_a_tree_is_as_like_itself_as_can_be(tree: Opt) -> None:
    assert align(tree, tree).overlap == pytest.approx(1.0)
    assert align(tree, tree).spread == pytest.approx(1.0)
    assert [pair.node for pair in align(tree, tree).pairs] == list(range(len(tree)))


@given(OPTS, OPTS)
def test_scores_are_shares_and_no_node_is_matched_twice(one: Opt, other: Opt) -> None:
    aligned = align(one, other)
    assert 0 <= aligned.overlap <= 1.0 + 1e-9
    assert 0 <= aligned.spread <= 1
    assert (
        len({pair.node for pair in aligned.pairs})
        == len({pair.other for pair in aligned.pairs})
        == len(aligned.pairs)
    )


def test_huge_trees_are_cut_not_hung_on() -> None:
    wide = Opt(("U!plus", *["V!x"] * 3000), (-1, *[0] * 3000), "-" + "0" * 3000)
    assert align(wide, wide).overlap == pytest.approx(1.0)
    assert len(align(wide, wide).pairs) == LARGEST


@given(OPTS, OPTS)
def test_in_the_parts_of_two_trees_no_node_comes_twice(one: Opt, other: Opt) -> None:
    met = parts(one, other)
    assert len({each.node for each in met}) == len({each.other for each in met}) == len(met)
    assert all(each.worth == label_worth(one.labels[each.node], other.labels[each.other]) for each in met)


@given(OPTS)
def test_a_tree_is_one_part_of_itself(tree: Opt) -> None:
    assert {(each.node, each.other) for each in parts(tree, tree)} >= {(0, 0)}
    assert len(parts(tree, tree)) == min(len(tree), LARGEST)


def test_the_work_of_an_alignment_is_bounded_and_counts_what_both_formulas_have() -> None:
    small, long = trees("a+b"), trees("+".join(["a"] * 3 * LARGEST))
    assert work(small, small) == 2 * 3 * 3
    assert work(long, long) <= 2 * LARGEST**2
    assert work(small, (None, small[1])) == 9
