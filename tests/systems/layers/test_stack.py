from __future__ import annotations

from dataclasses import fields

import numpy as np

from mathamr.graphs.shard import Shard
from mathamr.systems.layers.stack import GraphStack, cost, packed


def test_a_stack_cut_from_the_columns_equals_one_of_single_tensors(shard: Shard) -> None:
    numbers = [7, 0, 7, 29]
    cut = GraphStack.of_shard(shard, numbers)
    joined = GraphStack.of_tensors([shard[number] for number in numbers])
    for field in fields(GraphStack):
        np.testing.assert_array_equal(getattr(cut, field.name), getattr(joined, field.name), field.name)


def test_graphs_of_a_stack_have_no_edge_between_them(shard: Shard) -> None:
    stack = GraphStack.of_tensors([shard[number] for number in range(10)])
    owner = np.repeat(np.arange(10), stack.node_counts)
    assert (owner[stack.sources] == owner[stack.targets]).all()
    assert len(stack.sources) == 2 * stack.edge_counts.sum()


def test_an_empty_stack_has_nothing() -> None:
    stack = GraphStack.of_tensors([])
    assert len(stack) == len(stack.node_ids) == len(stack.sources) == 0


def test_packing_keeps_order_and_budget(shard: Shard) -> None:
    tensors = [shard[number] for number in range(len(shard))]
    lists = list(packed(((tensor, cost(tensor)) for tensor in tensors), 300))
    assert [t.post_id for part in lists for t in part] == list(shard.ids)
    assert all(len(part) == 1 or sum(map(cost, part)) <= 300 for part in lists)
