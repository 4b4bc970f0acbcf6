"""Streams in batches of what has arrived."""

from __future__ import annotations

from collections.abc import Iterator
from queue import Queue
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.core.batches import ahead, arriving, prefetched


@given(st.lists(st.integers(), max_size=50), st.integers(1, 7))
def test_batches_keep_order_and_size(items: list[int], size: int) -> None:
    batches = list(arriving(items, size))
    assert [item for batch in batches for item in batch] == items
    assert all(1 <= len(batch) <= size for batch in batches)


def test_a_batch_does_not_wait_to_be_full() -> None:
    gate: Queue[int | None] = Queue()
    batches = arriving(iter(gate.get, None), 100)
    for number in range(3):
        gate.put(number)
        assert next(batches) == [number]
    gate.put(None)
    assert list(batches) == []


def test_an_error_of_the_source_comes_after_what_arrived() -> None:
    def source() -> Iterator[int]:
        yield 1
        raise OSError("the pipe broke")

    batches = arriving(source(), 10)
    assert next(batches) == [1]
    with pytest.raises(OSError, match="the pipe broke"):
        next(batches)


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_prefetched_results_come_in_order(threads: int) -> None:
    gates = [Event() for _ in range(30)]

    def wait_for_the_next(number: int) -> int:
        gates[number].set()
        if threads > 1 and number % 2 == 0:
            assert gates[number + 1].wait(60)
        return number * number

    assert list(prefetched(wait_for_the_next, range(30), threads)) == [
        number * number for number in range(30)
    ]


def test_prefetching_is_bounded_and_stopped() -> None:
    read: list[int] = []
    stopped, going_on = Event(), Event()

    def work(number: int) -> int:
        return number if number < 2 or going_on.wait(60) else -1

    def stop() -> None:
        stopped.set()
        going_on.set()

    def numbers() -> Iterator[int]:
        for number in range(1000):
            read.append(number)
            yield number

    results = prefetched(work, numbers(), 2, 5, stop)
    assert [next(results), next(results)] == [0, 1]
    assert len(read) == 6
    results.close()  # type: ignore[attr-defined]
    assert stopped.is_set()


def test_an_error_while_prefetching_is_raised_where_its_result_is_due() -> None:
    results = prefetched(lambda number: 1 // (3 - number), range(10), threads=2)
    assert [next(results) for _ in range(3)] == [0, 0, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_items_ahead_are_few_and_an_error_comes_after_them() -> None:
    def source() -> Iterator[int]:
        yield from range(5)
        raise OSError("the pipe broke")

    items = ahead(source(), 3)
    assert [next(items) for _ in range(5)] == list(range(5))
    with pytest.raises(OSError, match="the pipe broke"):
        next(items)
