"""Threads that share a scan: each takes some blocks and works alone on them.

Torch and BLAS share every single multiplication among threads that wait for each other in a loop. A block is too small
for that: on a busy machine it takes up to a hundred times as long. Here whole runs of blocks are shared instead.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

T = TypeVar("T")

_prepared = threading.local()
_preparing = threading.Lock()


def share(work: Callable[[int, int], None], count: int) -> None:
    """Calls ``work(begin, end)`` on parts of `count` things in several threads, and waits for all of them."""
    parts = min(count, 2 * _cores())
    bounds = [count * part // parts for part in range(parts + 1)]
    for _ in _pool(os.getpid()).map(work, bounds[:-1], bounds[1:]):
        pass


def aside(work: Callable[[], T]) -> T:
    """The result of work that is done in one of the threads, where what it sets for its thread hinders nobody."""
    return _pool(os.getpid()).submit(work).result()


def torch_alone() -> None:
    """Makes torch use no other thread for what this thread asks of it; other threads keep what they have."""
    if getattr(_prepared, "torch", False):
        return
    import torch

    with _preparing:
        # The setting is this thread's own once it has been made; what a thread starts with is one for the process,
        # which is put back by a thread that has no other use.
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        restore = threading.Thread(target=torch.set_num_threads, args=(before,))
        restore.start()
        restore.join()
    _prepared.torch = True


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """The threads of a process: a forked one has none of its parent's."""
    return ThreadPoolExecutor(_cores(), thread_name_prefix="mathamr-scan")
