"""Splits streams into batches, by number or by time."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of at most `size` items.

    >>> list(batches("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    stream = iter(items)
    while batch := list(islice(stream, size)):
        yield batch


def every(seconds: float, items: Iterable[T]) -> Iterator[list[T]]:
    """Lists of the items that arrive within each interval.

    >>> list(every(60, "abc")), list(every(0, "abc"))
    ([['a', 'b', 'c']], [['a'], ['b'], ['c']])
    """
    batch: list[T] = []
    due = time.monotonic() + seconds
    for item in items:
        batch.append(item)
        if time.monotonic() >= due:
            yield batch
            batch, due = [], time.monotonic() + seconds
    if batch:
        yield batch
