from __future__ import annotations

import threading
import time

import pytest
import torch

from mathamr.graphs.shard import Shard
from mathamr.systems.layers.batch import GraphBatch, moved_together
from mathamr.systems.layers.stack import GraphStack
from mathamr_lab.training.loop import prefetched


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


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_prefetched_results_come_in_order(threads: int) -> None:
    def slow(number: int) -> int:
        time.sleep(0.002 * (number % 3))
        return number * number

    assert list(prefetched(slow, range(30), threads)) == [number * number for number in range(30)]


def test_prefetching_is_bounded() -> None:
    made = []
    lock = threading.Lock()

    def count(number: int) -> int:
        with lock:
            made.append(number)
        return number

    results = prefetched(count, iter(range(1000)), threads=2)
    assert next(results) == 0
    time.sleep(0.05)
    assert len(made) < 20
    results.close()  # type: ignore[attr-defined]


def test_an_error_while_prefetching_is_raised_where_its_result_is_due() -> None:
    def fails(number: int) -> int:
        if number == 3:
            raise ValueError("three")
        return number

    results = prefetched(fails, range(10), threads=2)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="three"):
        next(results)
