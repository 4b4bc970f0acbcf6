from __future__ import annotations

from hypothesis import given

from mathamr.formulas.notation import opt_from_string, slt_from_string
from mathamr.formulas.tree import Opt
from tests.formulas.generated import OPTS
from tests.formulas.operatorgraph import FormulaGraph, formula_graph, operator_graph, with_reversed_edges


def test_identical_subtrees_become_one_node() -> None:
    graph = operator_graph(opt_from_string("[O!minus,0[O!SUP,0[V!x],1[N!2]],1[O!SUP,0[V!x],1[N!2]]]"))
    assert graph.labels == ("O!minus", "O!SUP", "V!x", "N!2")
    assert graph.arcs == ((0, "0", 1), (0, "1", 1), (1, "0", 2), (1, "1", 3))


def test_order_matters_only_for_ordered_operators() -> None:
    swapped_sums = opt_from_string("[O!minus,0[U!plus,0[V!a],1[V!b]],1[U!plus,0[V!b],1[V!a]]]")
    swapped_powers = opt_from_string("[O!minus,0[O!SUP,0[V!a],1[V!b]],1[O!SUP,0[V!b],1[V!a]]]")
    assert len(operator_graph(swapped_sums)) == 4
    assert len(operator_graph(swapped_powers)) == 5


def test_every_use_of_a_shared_operand_is_an_arc() -> None:
    assert operator_graph(opt_from_string("[U!plus,0[V!x],1[V!x]]")).arcs == ((0, "0", 1), (0, "0", 1))


def test_a_tree_as_a_graph_keeps_all_nodes() -> None:
    graph = formula_graph(slt_from_string("[V!x[+[V!x]],a[N!2]]"))
    assert graph == FormulaGraph(("V!x", "+", "V!x", "N!2"), ((0, "n", 1), (1, "n", 2), (0, "a", 3)))


def test_reversed_edges_have_names_of_their_own() -> None:
    graph = with_reversed_edges(formula_graph(slt_from_string("[V!x,a[N!2]]")))
    assert graph.arcs == ((0, "a", 1), (1, "a-of", 0))


def unfolded(graph: FormulaGraph, node: int) -> tuple[object, ...]:
    """The tree below a node, with the operands of unordered operators sorted."""
    below = [(edge, unfolded(graph, target)) for source, edge, target in graph.arcs if source == node]
    if graph.labels[node].startswith("U!"):
        below.sort(key=repr)
    return (graph.labels[node], *below)


@given(OPTS)
def test_unfolding_the_operator_graph_gives_the_tree_back(tree: Opt) -> None:
    graph = operator_graph(tree)
    assert unfolded(graph, 0) == unfolded(formula_graph(tree), 0)
    assert len({unfolded(graph, node) for node in range(len(graph))}) == len(graph)
