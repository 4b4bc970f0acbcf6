"""Memory of processes that hold models and many threads: what is freed, collected and reserved."""

from __future__ import annotations

import ctypes
import gc
import threading
from contextlib import suppress
from functools import cache
from typing import Any

COLLECTED_AFTER = (200_000, 20, 20)
"""The thresholds of the three generations of garbage collection: models consist of many small, long-lived objects."""
STACK_BYTES = 2 << 20
"""The stack of a thread; Linux would reserve 8 MB, macOS 512 kB."""
_ARENA_MAX = -8
"""glibc's name (`malloc.h`) for the number of areas that memory is taken from."""


def collect_rarely() -> None:
    """Collect garbage less often: scanning the models again and again takes a tenth of a first query's time."""
    gc.set_threshold(*COLLECTED_AFTER)


def keep_loaded() -> None:
    """Exclude all objects that exist now from garbage collection, so that no request waits for a scan of the models."""
    gc.collect()
    gc.freeze()


def limit_thread_memory() -> None:
    """Reserve little address space for each thread that starts from now on.

    glibc gives every thread an area of 64 MB, of which little is used, but all of it counts against a limit (`ulimit -v`).
    """
    threading.stack_size(STACK_BYTES)
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)


def give_back() -> None:
    """Give freed memory back to the operating system; does nothing unless the C library is glibc."""
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Any:
    try:
        return getattr(ctypes.CDLL(None), "malloc_trim", None)
    except (OSError, TypeError):
        return None
