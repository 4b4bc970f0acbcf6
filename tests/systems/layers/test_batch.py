from __future__ import annotations

import torch

from mathamr.graphs.shard import Shard
from mathamr.systems.layers.batch import GraphBatch, moved_together
from mathamr.systems.layers.stack import GraphStack


def test_a_batch_says_which_nodes_represent_which_graph(shard: Shard) -> None:
    batch = GraphBatch.of(GraphStack.of_shard(shard, [3, 4]))
    first, second = shard[3], shard[4]
    expected = [*first.representatives.tolist(), *(second.representatives + len(first)).tolist()]
    assert batch.representatives.tolist() == expected
    assert batch.counts == (len(first.representatives), len(second.representatives))
    assert batch.levels.tolist() == [*first.levels.tolist(), *second.levels.tolist()]


def test_tensors_that_travel_as_one_arrive_as_they_were() -> None:
    tensors = [torch.arange(5, dtype=torch.int32), torch.rand(3, 2), torch.zeros(0, dtype=torch.int32)]
    for before, after in zip(tensors, moved_together(tensors, torch.device("cpu")), strict=True):
        assert before.dtype == after.dtype
        assert torch.equal(before, after)
