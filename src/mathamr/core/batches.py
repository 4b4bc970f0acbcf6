"""Splits streams into batches: by number, by time, or as items arrive; computes what is needed next in threads."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice, repeat, takewhile
from queue import Empty, Queue
from typing import TypeVar

T = TypeVar("T")
S = TypeVar("S")
_PATIENCE = 0.01  # seconds to wait for another item before a batch that is not full is given out


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield lists of at most `size` items.

    >>> list(batches("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    stream = iter(items)
    while batch := list(islice(stream, size)):
        yield batch


def portions(items: Iterable[T], most: int, size: Callable[[T], int], largest: int) -> Iterator[list[T]]:
    """Yield lists of at most `most` items whose sizes add up to at most `largest`; an item that is larger stands alone.

    >>> list(portions(["a", "b", "cde", "f", "g", "h"], 2, len, 3))
    [['a', 'b'], ['cde'], ['f', 'g'], ['h']]
    """
    portion: list[T] = []
    total = 0
    for item in items:
        if portion and (len(portion) == most or total + size(item) > largest):
            yield portion
            portion, total = [], 0
        portion.append(item)
        total += size(item)
    if portion:
        yield portion


def every(seconds: float, items: Iterable[T]) -> Iterator[list[T]]:
    """Yield, for each interval, the list of the items that arrived in it.

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


def prefetched(
    function: Callable[[T], S],
    items: Iterable[T],
    threads: int,
    size: int | None = None,
    stop: Callable[[], None] | None = None,
) -> Iterator[S]:
    """Yield the results in order, computed by threads before they are used; without threads each is computed when it is needed.

    At most `size` items, by default two a thread, are read ahead, in the caller's thread. `stop` is called if the caller leaves while a
    result is being computed, so that nobody waits for it.

    >>> list(prefetched(abs, [-1, -2, -3], threads=2))
    [1, 2, 3]
    """
    if threads < 1:
        yield from map(function, items)
        return
    stream, size, waiting = iter(items), size or 2 * threads, deque[Future[S]]()
    pool = ThreadPoolExecutor(threads)
    try:
        while True:
            for item in islice(stream, size - len(waiting)):
                waiting.append(pool.submit(function, item))
            if not waiting:
                return
            result = waiting[0].result()
            waiting.popleft()
            yield result
    finally:
        if stop is not None and not all(each.cancel() or each.done() for each in waiting):
            stop()
        pool.shutdown(cancel_futures=True)


def ahead(items: Iterable[T], size: int) -> Iterator[T]:
    """Yield the items while a thread computes the next ones, at most `size` of them.

    >>> list(ahead(iter("abc"), 2))
    ['a', 'b', 'c']
    """
    stream = iter(items)
    following: Iterator[list[T]] = prefetched(lambda _: list(islice(stream, 1)), repeat(None), 1, size)
    for item in takewhile(bool, following):
        yield from item
