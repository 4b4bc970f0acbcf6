from __future__ import annotations

import json

import pytest
from hypothesis import given

from mathamr.core.errors import MathAMRError
from mathamr.formulas.notation import opt_from_string, slt_from_string, to_string
from mathamr.formulas.tree import Opt, Slt
from tests.formulas.generated import OPTS, SLTS

SQUARE_PLUS_ONE = slt_from_string("[V!x[+[N!1]],a[N!2]]")


def test_children_are_listed_in_order() -> None:
    assert SQUARE_PLUS_ONE.children() == [[1, 3], [2], [], []]


def test_depths_and_sizes_count_edges_and_nodes() -> None:
    assert SQUARE_PLUS_ONE.depths() == [0, 1, 2, 1]
    assert SQUARE_PLUS_ONE.depth() == 2
    assert SQUARE_PLUS_ONE.sizes() == [4, 2, 1, 1]


def test_subtree_becomes_a_tree_of_its_own() -> None:
    assert to_string(SQUARE_PLUS_ONE.subtree(1)) == "[+[N!1]]"
    assert isinstance(SQUARE_PLUS_ONE.subtree(3), Slt)


def test_subtrees_begin_with_the_tree_itself() -> None:
    assert [to_string(tree) for tree in SQUARE_PLUS_ONE.subtrees()] == [
        "[V!x[+[N!1]],a[N!2]]",
        "[+[N!1]]",
        "[N!1]",
        "[N!2]",
    ]


def test_layout_and_operator_trees_are_never_equal() -> None:
    assert Slt(("x",), (-1,), "-") != Opt(("x",), (-1,), "-")
    assert len({Slt(("x",), (-1,), "-"), Opt(("x",), (-1,), "-")}) == 2


def test_equal_trees_have_equal_hashes() -> None:
    again = slt_from_string("[V!x[+[N!1]],a[N!2]]")
    assert again == SQUARE_PLUS_ONE
    assert hash(again) == hash(SQUARE_PLUS_ONE)


def test_trees_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        SQUARE_PLUS_ONE.edges = "-nnb"  # type: ignore[misc]


@given(SLTS)
def test_nested_lists_round_trip_through_json(tree: Slt) -> None:
    assert Slt.from_nested(json.loads(json.dumps(tree.to_nested()))) == tree


@given(OPTS)
def test_every_subtree_is_a_tree(tree: Opt) -> None:
    for node, subtree in enumerate(tree.subtrees()):
        assert Opt.checked(subtree.labels, subtree.parents, subtree.edges) == subtree
        assert subtree == tree.subtree(node)


@pytest.mark.parametrize(
    ("labels", "parents", "edges", "reason"),
    [
        ([], [], "", "at least one"),
        (["a", "b"], [-1], "-n", "as many"),
        (["a"], [0], "-", "root"),
        (["a", "b"], [-1, 0], "-q", "unknown edge"),
        (["a", "b", "c"], [-1, -1, 0], "-nn", "depth-first"),
        (["a", "b", "c", "d"], [-1, 0, 0, 1], "-nab", "depth-first"),
        (["a", "b", "c"], [-1, 0, 0], "-aa", "second child"),
    ],
)
def test_what_is_no_tree_is_refused(labels: list[str], parents: list[int], edges: str, reason: str) -> None:
    with pytest.raises(MathAMRError, match=reason):
        Slt.checked(labels, parents, edges)


@pytest.mark.parametrize(
    "nested", [[], "x", [3], ["a", "b"], ["a", ["n"]], ["a", ["nn", ["b"]]], ["a", [1, ["b"]]]]
)
def test_nested_lists_that_are_no_tree_are_refused(nested: object) -> None:
    with pytest.raises(MathAMRError):
        Slt.from_nested(nested)  # type: ignore[arg-type]


def test_a_bad_leaf_below_very_deep_lists_is_refused() -> None:
    nested: list[object] = ["a", 7]
    for _ in range(20_000):
        nested = ["a", ["n", nested]]
    with pytest.raises(MathAMRError, match="a child is"):
        Slt.from_nested(nested)
    with pytest.raises(MathAMRError, match="a nested tree is"):
        Slt.from_nested([nested])


def test_depth_costs_no_recursion() -> None:
    count = 50_000
    tree = Slt(("x",) * count, tuple(range(-1, count - 1)), "-" + "n" * (count - 1))
    assert tree.depth() == count - 1
    assert len(tree.subtree(10)) == count - 10
    assert slt_from_string(to_string(tree)) == tree
    deep_opt = opt_from_string("[f,0" * count + "[x" + "]" * (count + 1))
    assert deep_opt.depth() == count
