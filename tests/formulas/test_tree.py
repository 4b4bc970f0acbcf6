from __future__ import annotations

import pytest

from mathamr.formulas.notation import opt_from_string, slt_from_string, to_string
from mathamr.formulas.tree import Opt, Slt

SQUARE_PLUS_ONE = slt_from_string("[V!x[+[N!1]],a[N!2]]")


def test_children_are_listed_in_order() -> None:
    assert SQUARE_PLUS_ONE.children() == [[1, 3], [2], [], []]


def test_depths_and_sizes_count_edges_and_nodes() -> None:
    assert SQUARE_PLUS_ONE.depths() == [0, 1, 2, 1]
    assert SQUARE_PLUS_ONE.sizes() == [4, 2, 1, 1]


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


def test_depth_costs_no_recursion() -> None:
    count = 50_000
    tree = Slt(("x",) * count, tuple(range(-1, count - 1)), "-" + "n" * (count - 1))
    assert tree.depths()[-1] == count - 1
    assert slt_from_string(to_string(tree)) == tree
    deep_opt = opt_from_string("[f,0" * count + "[x" + "]" * (count + 1))
    assert deep_opt.depths()[-1] == count
