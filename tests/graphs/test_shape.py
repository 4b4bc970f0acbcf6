"""The shape of graphs: what is counted, and the means of it."""

from __future__ import annotations

from collections import Counter
from statistics import mean, pstdev

import pytest
from hypothesis import given

from mathamr.graphs.mathgraph import MathGraph
from mathamr.graphs.shape import GraphShape, count_shape
from tests.graphs.small import small_graph
from tests.graphs.strategies import math_graphs


def test_the_shape_of_a_graph() -> None:
    found = count_shape(small_graph())
    # "odd plus b a" and "find-01 SUP 2 x imperative" in some order, without the root that joins them.
    assert (found["lines"], found["words"], found["squares"]) == (2, 4 + 5, 16 + 25)
    shape = GraphShape.of(found + count_shape(small_graph(dropped=True)))
    assert (shape.virtual, shape.opt_nodes, shape.slt_nodes, shape.lines) == (5, 3, 2.5, 4)
    assert shape.line == mean([4, 5, 4, 5])
    assert shape.line_deviation == pytest.approx(pstdev([4, 5, 4, 5]))


def test_an_empty_collection_has_a_shape() -> None:
    assert GraphShape.of(Counter()).line_deviation == 0


@given(math_graphs())
def test_any_graph_can_be_counted(graph: MathGraph) -> None:
    found = count_shape(graph)
    assert found["formulas"] == len(graph.formulas)
    assert found["lines"] <= len(graph.sentences)
