"""Threads that share a scan: each takes some blocks and works alone on them.

BLAS shares every single multiplication among threads that wait for each other in a loop. A block is too small
for that: on a busy machine it takes up to a hundred times as long. Here whole runs of blocks are shared instead.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache


def share(work: Callable[[int, int], None], count: int) -> None:
    """Call ``work(begin, end)`` on parts of `count` things in several threads, and wait for all of them."""
    parts = min(count, 2 * _cores())
    bounds = [count * part // parts for part in range(parts + 1)]
    for _ in _pool(os.getpid()).map(work, bounds[:-1], bounds[1:]):
        pass


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """Return the thread pool of this process; a forked process has none of its parent's threads."""
    return ThreadPoolExecutor(_cores(), thread_name_prefix="mathamr-scan")
