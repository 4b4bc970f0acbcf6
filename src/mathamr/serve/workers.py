"""Several worker processes that serve one index on one port, and take connections in turns.

Python runs one thread at a time, so one process uses one processor however many queries wait. All workers read the same
files through the system's page cache. Only one process may change an index, so a server with a key for writing has one.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

from mathamr.core.errors import MathAMRError
from mathamr.core.workers import processors

MOST_WORKERS = 8
"""Workers that are started by default: each has its own model and AMR parser, some 200 MB that are not shared."""


def worker_count(requested: int | None, *, writes: bool) -> int:
    """Return how many processes serve an index: `requested`, or one a processor; one where more are impossible."""
    if not hasattr(os, "fork"):
        reason = "this system cannot share a port between processes"
    elif writes:
        reason = "a server that takes writes is one process"
    else:
        return requested or min(MOST_WORKERS, processors())
    if requested is not None and requested > 1:
        raise MathAMRError(f"{requested} processes cannot serve this index: {reason}; leave --processes out")
    return 1


@contextmanager
def workers(count: int, run: Callable[[int], None]) -> Iterator[None]:
    """Fork `count` processes that call `run` with their number, from 1.

    They end with this process, however it ends. Call it before any thread is started.
    """
    alive, held = os.pipe()
    children: list[int] = []
    for number in range(1, count + 1):
        child = os.fork()
        if not child:
            os.close(held)
            _run_child(alive, partial(run, number))
        children.append(child)
    os.close(alive)
    try:
        yield
    finally:
        os.close(held)
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGTERM)
        for child in children:
            with suppress(ChildProcessError):
                os.waitpid(child, 0)


def _run_child(alive: int, run: Callable[[], None]) -> None:
    """Run until the process is told to stop, or the parent is gone."""

    def watch_parent() -> None:
        os.read(alive, 1)  # returns when no process holds the other end any more
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch_parent, daemon=True).start()
    code = 1
    try:
        run()
        code = 0
    except (KeyboardInterrupt, SystemExit):
        code = 0
    except MathAMRError as error:
        print(f"mathamr: a worker process of the server ended: {error}", file=sys.stderr, flush=True)
    finally:
        sys.stderr.flush()
        os._exit(code)
