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


def test_leaves_are_of_first_order_and_their_parents_of_second_however_high_they_stand() -> None:
    graphs, labels = graphs_of("[O!root,0[U!plus,0[V!x],1[O!SUP,0[V!y],1[O!f,0[O!minus,0[V!a]]]]]]")
    of_orders: dict[int, list[str]] = {}
    for name, order in zip(named(graphs, labels), graphs.orders.tolist(), strict=True):
        of_orders.setdefault(order, []).append(name)
    assert of_orders == {0: ["V!x", "V!y", "V!a"], 1: ["U!plus", "O!SUP", "O!minus"], 2: ["O!root", "O!f"]}


@pytest.mark.parametrize(
    ("order", "tree", "labels_left", "arcs"),
    [
        # of first order it hides leaves and keeps the structure
        (
            "first",
            SQUARES,
            ["U!plus", "O!SUP", "?", "?", "O!SUP", "?"],
            [(0, 1), (0, 4), (1, 2), (1, 3), (4, 3), (4, 5)],
        ),
        # of second order it puts a wildcard at the root and cuts what is below
        ("second", SQUARES, ["U!plus", "?", "?"], [(0, 1), (0, 2)]),
        ("third", SQUARES, ["?"], []),
        # f(-x) / x: where f(-x) becomes a wildcard, x stays as the divisor and the sign goes
        ("third", "[O!divide,0[O!f,0[O!minus,0[V!x]]],1[V!x]]", ["O!divide", "?", "V!x"], [(0, 1), (0, 2)]),
    ],
)
def test_substitution_puts_wildcards_where_its_order_says(
    order: str, tree: str, labels_left: list[str], arcs: list[tuple[int, int]]
) -> None:
    graphs, labels = graphs_of(tree)
    only = AugmentationConfiguration(kind="substitution", **{"first": 0, "second": 0, "third": 0, order: 1})
    found = view(graphs, only, len(labels), np.random.default_rng(0))
    assert named(found, labels) == labels_left
    assert sorted(zip(found.sources.tolist(), found.targets.tolist(), strict=True)) == arcs
    assert int(found.labels.max()) < len(labels) + WILDCARDS


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
