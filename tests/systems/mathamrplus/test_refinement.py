from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.graphs.shard import Shard
from mathamr.systems.layers.stack import GraphStack
from mathamr.systems.mathamrplus.refinement import Refinement, Sums, refined

LAYERS = 3


@given(st.lists(st.lists(st.integers(0, 6), min_size=1, max_size=9), max_size=12))
def test_sums_are_sums_whatever_their_lengths(wanted: list[list[int]]) -> None:
    x = np.arange(21.0).reshape(7, 3) ** 2
    counts = np.array([len(each) for each in wanted], np.int64)
    sums = Sums(
        np.cumsum(counts) - counts, counts, np.array([number for each in wanted for number in each], np.int64)
    )
    expected = [x[wanted[place]].sum(0) for place in sums.order]
    assert sorted(sums.order.tolist()) == list(range(len(wanted)))
    np.testing.assert_array_equal(sums(x), np.reshape(expected, (-1, 3)))


@pytest.fixture
def stack(shard: Shard) -> GraphStack:
    return GraphStack.of_shard(shard, range(len(shard)))


def test_there_are_as_many_classes_as_colour_refinement_finds(stack: GraphStack) -> None:
    plan = refined(stack, LAYERS, 1 << 16, few=0)
    colours: list[object] = stack.node_ids.tolist()
    wanted = [set(range(len(colours)))] * (LAYERS - 1) + [set(stack.representatives.tolist())]
    for step, nodes in zip(plan.steps, wanted, strict=True):
        arriving: list[Counter[object]] = [Counter() for _ in colours]
        for source, relation, target in zip(stack.sources, stack.relations, stack.targets, strict=True):
            arriving[target][int(relation), colours[source]] += 1
        found = [(own, frozenset(each.items())) for own, each in zip(colours, arriving, strict=True)]
        names = {colour: number for number, colour in enumerate(dict.fromkeys(found))}
        colours = [names[colour] for colour in found]
        assert len(step.own) == len({colours[node] for node in nodes})
    by_class = dict(
        zip(plan.representatives.tolist(), (colours[n] for n in stack.representatives), strict=True)
    )
    assert [by_class[each] for each in plan.representatives.tolist()] == [
        colours[node] for node in stack.representatives
    ]


def test_a_post_that_comes_again_is_not_computed_again(shard: Shard, stack: GraphStack) -> None:
    numbers = [*range(len(shard))]
    once, twice = (
        _computed(refined(GraphStack.of_shard(shard, n), LAYERS, 1 << 16, few=0))
        for n in (numbers, numbers * 2)
    )
    assert twice == once


def test_of_the_last_layer_only_representatives_are_computed(stack: GraphStack) -> None:
    for few in (0, 10**6):
        plan = refined(stack, LAYERS, 1 << 16, few)
        assert len(plan.steps[-1].own) <= len(np.unique(stack.representatives)) < len(stack.node_ids)


def test_parts_hold_no_more_than_was_asked_for(stack: GraphStack) -> None:
    relations = len(np.unique(stack.relations))
    plan = refined(stack, LAYERS, 4, few=0)
    assert all(len(step.parts) > 1 for step in plan.steps)
    assert all(len(part.relations) < 4 + relations for step in plan.steps for part in step.parts)


def test_nodes_without_edges_are_distinguished_by_their_labels(shard: Shard, stack: GraphStack) -> None:
    tensor = shard[0]
    bare = replace(tensor, edge_index=np.zeros((2, 0), np.int32), relation_ids=np.zeros(0, np.int32))
    plan = refined(GraphStack.of_tensors([bare, bare]), LAYERS, 8, few=0)
    labels = np.unique(tensor.node_ids[tensor.representatives])
    assert [len(step.own) for step in plan.steps] == [len(labels)] * LAYERS
    assert plan.labels[plan.steps[0].own].tolist() == labels.tolist()


def _computed(plan: Refinement) -> list[tuple[int, int]]:
    return [(len(step.own), sum(len(part.relations) for part in step.parts)) for step in plan.steps]
