from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mathamr.systems.layers.stack import GraphStack
from mathamr_lab.systems.mathamrplus.graph.augmentation import MASK_ID, augmented, graph_keys
from tests.lab.synthetic import synthetic_shard

SHARD = synthetic_shard(6, labels=60, relations=12, formulas=2, sentences=2)


@given(
    st.lists(st.integers(0, 11), min_size=1, max_size=5),
    st.floats(0, 0.99),
    st.floats(0, 0.99),
    st.integers(0, 1000),
)
@settings(max_examples=40)
def test_virtual_nodes_and_their_edges_are_never_touched(
    numbers: list[int], node_mask: float, edge_drop: float, seed: int
) -> None:
    stack = GraphStack.of_shard(SHARD, numbers)
    changed = augmented(stack, graph_keys(seed, 0, np.arange(len(numbers))), node_mask, edge_drop)
    np.testing.assert_array_equal(changed.node_ids[stack.virtual], stack.node_ids[stack.virtual])
    assert set(changed.node_ids[changed.node_ids != stack.node_ids].tolist()) <= {MASK_ID}

    def virtual_edges(of: GraphStack) -> list[tuple[int, ...]]:
        touching = of.virtual[of.sources] | of.virtual[of.targets]
        return list(zip(of.sources[touching], of.targets[touching], of.relations[touching], strict=True))

    assert virtual_edges(changed) == virtual_edges(stack)
    before = set(zip(stack.sources, stack.targets, stack.relations, strict=True))
    assert set(zip(changed.sources, changed.targets, changed.relations, strict=True)) <= before


def test_about_as_many_are_hit_as_asked_for() -> None:
    shard = synthetic_shard(60, labels=60, relations=12)
    stack = GraphStack.of_shard(shard, np.arange(120))
    changed = augmented(stack, graph_keys(1, 2, np.arange(120)), 0.1, 0.3)
    real = ~stack.virtual
    assert 0.09 < (changed.node_ids[real] == MASK_ID).mean() < 0.11
    droppable = ~(stack.virtual[stack.sources] | stack.virtual[stack.targets])
    dropped = (len(stack.sources) - len(changed.sources)) / droppable.sum()
    assert 0.28 < dropped < 0.32


def test_a_graph_is_hit_in_the_same_places_whatever_stands_beside_it() -> None:
    keys = graph_keys(5, 1, np.arange(4))
    together = augmented(GraphStack.of_shard(SHARD, [0, 1, 2, 3]), keys, 0.3, 0.3)
    alone = augmented(GraphStack.of_shard(SHARD, [2]), keys[2:3], 0.3, 0.3)
    start = int(together.node_counts[:2].sum())
    own = slice(start, start + int(together.node_counts[2]))
    np.testing.assert_array_equal(together.node_ids[own], alone.node_ids)
    inside = (together.sources >= own.start) & (together.sources < own.stop)
    np.testing.assert_array_equal(together.sources[inside] - start, alone.sources)
