"""Batches of formula graphs: sub-expressions against a loop over hand-drawn trees, edges both ways."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.formulas.parse import parse
from mathamr.formulas.tree import Tree
from mathamr.graphs.formulashard import FormulaShard
from mathamr.systems.formulagraph.batch import batch_of, whole
from mathamr_lab.systems.formulagraph.subexpressions import Subexpressions
from tests.systems.formulamodels import shard


def naive(tree: Tree, removed: int) -> list[int]:
    """The largest component without a node, by walking; of equal ones the one above, then the first below."""
    parts: list[list[int]] = []
    below = {removed}
    for node in range(removed + 1, len(tree)):
        if tree.parents[node] in below:
            below.add(node)
    parts.append([node for node in range(len(tree)) if node not in below])
    for child in (node for node in below if tree.parents[node] == removed):
        inside = {child}
        for node in sorted(below):
            if tree.parents[node] in inside:
                inside.add(node)
        parts.append(sorted(inside))
    first, *others = parts
    return max([first, *sorted(others)], key=len)


@pytest.mark.parametrize("view", ["slt", "opt"])
def test_the_largest_part_stays_whichever_node_goes(view: str) -> None:
    formulas = shard()
    trees = formulas.slt if view == "slt" else formulas.opt
    parts = Subexpressions(trees)
    for number in range(len(trees)):
        tree = trees.tree(number, formulas.labels, view)
        start = int(trees.starts[number])
        for removed in range(len(tree)):
            found = parts.without(np.array([number]), np.array([start + removed]))
            if len(tree) > 1:
                assert (found.nodes - start).tolist() == naive(tree, removed), (number, removed)


def test_only_internal_nodes_go_and_one_node_stays_alone() -> None:
    formulas = FormulaShard.of((parsed.slt, parsed.opt) for parsed in map(parse, ["x", "-x", "a+b"]))
    parts = Subexpressions(formulas.opt)
    kept = set()
    for seed in range(20):
        drawn = parts.drawn(np.arange(3), np.random.default_rng(seed))
        assert drawn.counts.tolist() == [1, 1, 1]
        kept.add(tuple(formulas.labels.labels[label] for label in formulas.opt.labels[drawn.nodes]))
    # Of -x and of a+b the operator goes, a leaf never.
    assert kept == {("V!x", "V!x", "V!a")}


def test_sub_expressions_change_with_the_seed_alone() -> None:
    formulas = shard()
    parts, chosen = Subexpressions(formulas.slt), np.arange(len(formulas))
    one, same, other = (parts.drawn(chosen, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert one.nodes.tolist() == same.nodes.tolist()
    assert one.nodes.tolist() != other.nodes.tolist()


def test_every_edge_has_one_back_with_a_relation_of_its_own() -> None:
    formulas = FormulaShard.of([(parse("x^2").slt, parse("x^2").opt)])
    batch = batch_of(formulas.opt, np.array([0]), whole(formulas.opt, np.array([0])))
    edges = set()
    done = 0
    for relation, count in zip(batch.groups.relations, batch.groups.sizes, strict=True):
        for group in range(done, done + count):
            for place in range(int(batch.groups.starts[group]), int(batch.groups.starts[group + 1])):
                edges.add((int(batch.groups.sources[place]), relation, int(batch.groups.targets[group])))
        done += count
    assert edges == {(0, 0, 1), (1, 1, 0), (0, 2, 2), (2, 3, 0)}


def test_edges_to_nodes_that_went_are_not_there() -> None:
    formulas = shard()
    parts, chosen = Subexpressions(formulas.opt), np.arange(len(formulas))
    drawn = parts.drawn(chosen, np.random.default_rng(3))
    batch = batch_of(formulas.opt, chosen, drawn)
    # A part of a tree is a tree: an edge less than nodes, both ways.
    assert sum(batch.groups.edge_sizes) == 2 * int((drawn.counts - 1).sum())


def test_trees_out_of_order_are_refused() -> None:
    formulas = shard()
    chosen = np.array([2, 1])
    with pytest.raises(MathAMRError, match="ascending order"):
        batch_of(formulas.opt, chosen, whole(formulas.opt, chosen))
