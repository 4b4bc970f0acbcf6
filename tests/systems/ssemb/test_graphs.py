"""Operator graphs as numbers against those of the formulas' room, and their augmentations on hand-drawn graphs."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.formulas.notation import opt_from_string
from mathamr.formulas.parse import parse
from mathamr.graphs.formulashard import EDGES, FormulaLabels, folded
from mathamr.systems.ssemb.graphs import OperatorGraphs
from mathamr.systems.ssemb.network import WILDCARDS
from mathamr_lab.systems.ssemb.augmentation import AugmentationConfiguration, view
from tests.formulas.operatorgraph import operator_graph
from tests.systems.formulamodels import LATEX, shard

SQUARES = "[U!plus,0[O!SUP,0[V!a],1[N!2]],1[O!SUP,0[V!b],1[N!2]]]"
"""a^2 + b^2: the nodes plus, SUP, a, 2, SUP, b; the 2 is one node."""


def graphs_of(*trees: str) -> tuple[OperatorGraphs, FormulaLabels]:
    opts = [opt_from_string(tree) for tree in trees]
    counts = {folded(label): 1 for opt in opts for label in opt.labels}
    labels = FormulaLabels.of_counts(counts)
    return OperatorGraphs.of(opts, labels), labels


def named(graphs: OperatorGraphs, labels: FormulaLabels) -> list[str]:
    return [labels.labels[label] if label < len(labels) else "?" for label in graphs.labels.tolist()]


def test_graphs_are_those_of_the_formulas_room() -> None:
    labels = shard().labels
    opts = [parse(latex).opt for latex in LATEX]
    graphs = OperatorGraphs.of(opts, labels)
    for number, opt in enumerate(opts):
        wanted, found = operator_graph(opt), graphs.chosen(np.array([number]))
        assert named(found, labels) == list(map(folded, wanted.labels))
        arcs = zip(found.sources.tolist(), found.edges.tolist(), found.targets.tolist(), strict=True)
        assert sorted(arcs) == sorted(
            (source, EDGES["opt"].index(edge), target) for source, edge, target in wanted.arcs
        )


def test_symbols_that_a_model_does_not_know_stay_apart() -> None:
    labels = FormulaLabels.of_counts({"U!plus": 1})
    trees = [opt_from_string(f"[U!plus,0[V!{one}],1[V!{two}]]") for one, two in ("ξζ", "ξξ")]
    graphs = OperatorGraphs.of(trees, labels)
    assert np.diff(graphs.node_starts).tolist() == [3, 2]
    assert graphs.labels[1] == graphs.labels[2]  # both have the number of their type


def test_leaves_are_of_first_order_their_parents_of_second() -> None:
    graphs, labels = graphs_of(SQUARES)
    assert dict(zip(named(graphs, labels), graphs.orders.tolist(), strict=True)) == {
        "U!plus": 2,
        "O!SUP": 1,
        "V!a": 0,
        "N!2": 0,
        "V!b": 0,
    }


def test_a_parent_of_a_leaf_is_of_second_order_however_high_it_stands() -> None:
    graphs, labels = graphs_of("[O!root,0[U!plus,0[V!x],1[O!SUP,0[V!y],1[O!f,0[O!minus,0[V!a]]]]]]")
    assert dict(zip(named(graphs, labels), graphs.orders.tolist(), strict=True)) == {
        "O!root": 2,
        "U!plus": 1,
        "V!x": 0,
        "O!SUP": 1,
        "V!y": 0,
        "O!f": 2,
        "O!minus": 1,
        "V!a": 0,
    }


def test_substitution_of_first_order_hides_leaves_and_keeps_the_structure() -> None:
    graphs, labels = graphs_of(SQUARES)
    only = AugmentationConfiguration(kind="substitution", first=1, second=0, third=0)
    found = view(graphs, only, len(labels), np.random.default_rng(0))
    assert named(found, labels) == ["U!plus", "O!SUP", "?", "?", "O!SUP", "?"]
    assert found.sources.tolist() == graphs.sources.tolist()
    assert found.targets.tolist() == graphs.targets.tolist()
    wildcards = found.labels[found.labels >= len(labels)]
    assert int(wildcards.max()) < len(labels) + WILDCARDS


def test_substitution_of_second_order_puts_a_wildcard_at_the_root_and_cuts_what_is_below() -> None:
    graphs, labels = graphs_of(SQUARES)
    only = AugmentationConfiguration(kind="substitution", first=0, second=1, third=0)
    found = view(graphs, only, len(labels), np.random.default_rng(0))
    assert named(found, labels) == ["U!plus", "?", "?"]
    assert sorted(zip(found.sources.tolist(), found.targets.tolist(), strict=True)) == [(0, 1), (0, 2)]


def test_substitution_of_third_order_leaves_one_wildcard_of_the_whole() -> None:
    graphs, labels = graphs_of(SQUARES)
    only = AugmentationConfiguration(kind="substitution", first=0, second=0, third=1)
    found = view(graphs, only, len(labels), np.random.default_rng(0))
    assert named(found, labels) == ["?"]
    assert not len(found.sources)


def test_what_is_shared_with_a_part_that_stays_is_not_cut() -> None:
    # f(-x) / x: where f(-x) becomes a wildcard, x stays as the divisor and the sign goes.
    graphs, labels = graphs_of("[O!divide,0[O!f,0[O!minus,0[V!x]]],1[V!x]]")
    only = AugmentationConfiguration(kind="substitution", first=0, second=0, third=1)
    found = view(graphs, only, len(labels), np.random.default_rng(0))
    assert named(found, labels) == ["O!divide", "?", "V!x"]


def test_attribute_masking_changes_labels_alone() -> None:
    graphs, labels = graphs_of(SQUARES)
    only = AugmentationConfiguration(kind="attribute", mask=1)
    found = view(graphs, only, len(labels), np.random.default_rng(0))
    assert set(found.labels.tolist()) == {0}
    assert found.targets.tolist() == graphs.targets.tolist()


def test_node_dropping_keeps_roots_and_edge_perturbation_stays_inside_its_graph() -> None:
    graphs, labels = graphs_of(SQUARES, "[V!x]", "[O!minus,0[V!x]]")
    only = AugmentationConfiguration(kind="attribute-node-edge", mask=0, drop=1)
    found = view(graphs, only, len(labels), np.random.default_rng(0))
    assert named(found, labels) == ["U!plus", "V!x", "O!minus"]
    moved = AugmentationConfiguration(kind="attribute-node-edge", mask=0, drop=0.5)
    for seed in range(10):
        each = view(graphs, moved, len(labels), np.random.default_rng(seed))
        sizes = np.repeat(np.diff(each.node_starts), np.diff(each.arc_starts))
        assert np.all(each.targets < sizes)
        assert np.all(each.sources < sizes)


def test_views_depend_on_the_seed_alone() -> None:
    trees = shard().opt
    graphs = OperatorGraphs.of_numbers(trees, trees.labels)
    one, same, other = (
        view(graphs, AugmentationConfiguration(), 100, np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    assert one.labels.tolist() == same.labels.tolist()
    assert one.labels.tolist() != other.labels.tolist()


def test_unknown_augmentations_and_impossible_rates_are_refused() -> None:
    with pytest.raises(UnknownNameError):
        AugmentationConfiguration(kind="none")
    with pytest.raises(MathAMRError, match="from 0 to 1"):
        AugmentationConfiguration(first=2)
