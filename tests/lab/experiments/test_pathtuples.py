from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings

from mathamr.formulas.notation import opt_from_string, slt_from_string
from mathamr.formulas.tree import Opt, Slt, Tree
from mathamr_lab.experiments.pathtuples import PathTuple, mean_tuple_f1, run_length_coded, tuple_f1, tuples
from tests.formulas.generated import OPTS, SLTS

SUM = opt_from_string("[O!minus,0[U!plus,0[V!a],1[V!b]],1[V!c]]")


def plain(tree: Tree, window: int = 1) -> list[tuple[str, ...]]:
    return [tuple(each) for each in tuples(tree, window)]


def test_operands_of_an_unordered_operator_hang_on_edge_0() -> None:
    assert plain(SUM) == [
        ("O!minus", "U!plus", "0", "-"),
        ("U!plus", "V!a", "0", "0"),
        ("U!plus", "V!b", "0", "0"),
        ("O!minus", "V!c", "1", "-"),
    ]


def test_a_wider_window_adds_grandparents() -> None:
    assert set(plain(SUM, window=2)) - set(plain(SUM)) == {
        ("O!minus", "V!a", "00", "-"),
        ("O!minus", "V!b", "00", "-"),
    }


def test_a_single_node_has_no_tuples() -> None:
    assert plain(slt_from_string("[V!x]")) == []


def test_long_paths_are_run_length_coded() -> None:
    assert run_length_coded("nnnnn") == "nnnnn"
    assert run_length_coded("nnnnnn") == "6n"
    assert run_length_coded("nonnnw") == "1n1o3n1w"


def test_overlong_tuples_are_left_out() -> None:
    assert plain(slt_from_string(f"[V!{'x' * 300}[+[N!1]]]")) == [("+", "N!1", "n", "n")]


@given(SLTS)
def test_locations_agree_with_a_walk_from_the_root(tree: Slt) -> None:
    """The oracle spells every way out and codes it afterwards."""
    expected = []
    for node in range(1, len(tree)):
        way, ancestor = "", tree.parents[node]
        while ancestor > 0:
            way, ancestor = tree.edges[ancestor] + way, tree.parents[ancestor]
        fields = (
            tree.labels[tree.parents[node]],
            tree.labels[node],
            tree.edges[node],
            run_length_coded(way) or "-",
        )
        expected.append(PathTuple(*fields))
    assert sorted(tuples(tree)) == sorted(expected)


@settings(max_examples=40)
@given(OPTS)
def test_a_tree_has_f1_of_one_with_itself(tree: Opt) -> None:
    assert tuple_f1(tree, tree) == 1.0


def test_f1_counts_what_both_have() -> None:
    found, expected = slt_from_string("[V!x[+[N!1]]]"), slt_from_string("[V!x[+[N!2]]]")
    assert tuple_f1(found, expected) == pytest.approx(0.5)
    assert mean_tuple_f1([(found, expected), (None, expected)]) == pytest.approx(0.25)
    assert tuple_f1(slt_from_string("[V!x]"), slt_from_string("[V!y]")) == 0.0


def test_deep_trees_stay_cheap() -> None:
    count = 30_000
    tree = Slt(("x",) * count, tuple(range(-1, count - 1)), "-" + ("na" * count)[: count - 1])
    assert 0 < len(tuples(tree, window=2)) < 500


def test_worked_examples_of_the_specification(data: Path) -> None:
    """Tuples and their order, as the published code printed them."""
    text = (data / "formulas/slt-opt-spec.md").read_text(encoding="utf-8").partition("## 7.")[2]
    examples = re.findall(r"- (SLT|OPT) `(.*?)`.*\n     - (.*)", text)
    assert len(examples) > 600
    for kind, string, expected in examples:
        tree = slt_from_string(string) if kind == "SLT" else opt_from_string(string)
        assert (" ".join(f"({', '.join(each)})" for each in tuples(tree)) or "(none)") == expected
