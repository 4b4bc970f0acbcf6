"""`limit_thread_memory`: lets many threads run where the address space of a process is limited."""

from __future__ import annotations

import ctypes
import threading
from contextlib import suppress

STACK_BYTES = 2 << 20
"""The stack of a thread; Linux would reserve 8 MB, macOS 512 kB."""
_ARENA_MAX = -8
"""glibc's name (`malloc.h`) for the number of areas that memory is taken from."""


def limit_thread_memory() -> None:
    """Reserve little address space for each thread that starts from now on.

    glibc gives every thread an area of 64 MB, of which little is used, but all of it counts against a limit (`ulimit -v`).
    """
    threading.stack_size(STACK_BYTES)
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)
