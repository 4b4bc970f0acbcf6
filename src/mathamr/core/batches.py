"""Splits streams into batches: by number, by time, or as items arrive."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from queue import Empty, Queue
from typing import TypeVar

T = TypeVar("T")
_PATIENCE = 0.01  # seconds to wait for another item before a batch that is not full is given out


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """List of at most `size` items.

    >>> list(batches("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    stream = iter(items)
    while batch := list(islice(stream, size)):
        yield batch


def every(seconds: float, items: Iterable[T]) -> Iterator[list[T]]:
    """List of the items that arrive within each interval.

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


def arriving(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Group the `items` that have arrived into batches of at most `size`, without waiting for a full batch."""
    queue: Queue[tuple[T] | BaseException | None] = Queue(4 * size)

    def fill() -> None:
        try:
            for item in items:
                queue.put((item,))
            queue.put(None)
        except BaseException as error:
            queue.put(error)

    threading.Thread(target=fill, daemon=True).start()
    ended: BaseException | bool = False
    while not ended:
        batch: list[T] = []
        while len(batch) < size and not ended:
            try:
                arrived = queue.get(timeout=_PATIENCE) if batch else queue.get()
            except Empty:
                break
            if isinstance(arrived, tuple):
                batch.append(arrived[0])
            else:
                ended = arrived or True
        if batch:
            yield batch
    if isinstance(ended, BaseException):
        raise ended


def ahead(items: Iterable[T], size: int) -> Iterator[T]:
    """Yield the items while a thread computes the next ones, at most `size` of them.

    >>> list(ahead(iter("abc"), 2))
    ['a', 'b', 'c']
    """
    queue: Queue[tuple[T] | BaseException | None] = Queue(size)
    is_left = threading.Event()

    def fill() -> None:
        try:
            for item in items:
                queue.put((item,))
                if is_left.is_set():
                    return
            queue.put(None)
        except BaseException as error:
            queue.put(error)

    thread = threading.Thread(target=fill, daemon=True)
    thread.start()
    try:
        while (arrived := queue.get()) is not None:
            if isinstance(arrived, BaseException):
                raise arrived
            yield arrived[0]
    finally:
        is_left.set()
        while thread.is_alive():
            with suppress(Empty):
                queue.get(timeout=_PATIENCE)
        thread.join()
