"""Streams in batches of what has arrived."""

from __future__ import annotations

from collections.abc import Iterator
from queue import Queue

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.core.batches import arriving


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
