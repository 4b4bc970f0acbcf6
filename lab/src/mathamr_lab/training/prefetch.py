"""Prefetches batches in threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def prefetched(function: Callable[[T], R], items: Iterable[T], threads: int) -> Iterator[R]:
    """Yields the results in order, computed by threads before they are used; without threads each is computed when it is needed.

    >>> list(prefetched(abs, [-1, -2, -3], threads=2))
    [1, 2, 3]
    """
    if threads < 1:
        yield from map(function, items)
        return
    waiting: deque[Future[R]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="batches") as pool:
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) > 2 * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
