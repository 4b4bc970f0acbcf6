"""Several processes that serve one index: each reads the same files through the system's memory, and answers on the same port.

Python runs one thread at a time, so that one process uses one processor however many queries wait. They take connections
from one queue, in turns (`fairshare`). Whoever changes the index does so alone: a server with a key for writing is one process.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.core.workers import processors
from mathamr.index.engines.engine import ENGINES
from mathamr.index.manifest import Manifest

MOST = 8
"""Processes that are started unless more are asked for: each has an AMR parser of its own: with it some 250 MB that are not shared."""


def process_count(asked: int | None, index: Path, *, writes: bool) -> int:
    """How many processes serve an index: as many as asked for, or as there are processors; one where more cannot be."""
    if not hasattr(os, "fork"):
        reason = "this system cannot share a port between processes"
    elif writes:
        reason = "a server that takes writes is one process"
    elif not ENGINES[Manifest.read(index).engine.name].capabilities.concurrent:
        reason = "the index's engine is one process's at a time"
    else:
        return asked or min(MOST, processors())
    if asked is not None and asked > 1:
        raise MathAMRError(f"{asked} processes cannot serve this index: {reason}; leave --processes out")
    return 1


@contextmanager
def siblings(count: int, run: Callable[[int], None]) -> Iterator[Callable[[], None]]:
    """While this lasts, so many other processes do the same, numbered from one; they end with this one, however it ends.

    They are forked, so that nothing but what they need is loaded when they begin; call it before there are threads.
    What is given tells them all to stop.
    """
    alive, held = os.pipe()
    started: list[int] = []
    for number in range(1, count + 1):
        child = os.fork()
        if not child:
            os.close(held)
            _live(alive, partial(run, number))
        started.append(child)
    os.close(alive)

    def stop() -> None:
        for child in started:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGTERM)

    try:
        yield stop
    finally:
        os.close(held)
        stop()
        for child in started:
            with suppress(ChildProcessError):
                os.waitpid(child, 0)


def _live(alive: int, run: Callable[[], None]) -> None:
    """The life of a sibling: it works until it is told to stop, or the first process is gone."""

    def watch() -> None:
        os.read(alive, 1)  # ends when no process holds the other end any more
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()
    code = 1
    try:
        run()
        code = 0
    except (KeyboardInterrupt, SystemExit):
        code = 0
    except MathAMRError as error:
        print(f"mathamr: a process of the server ended: {error}", file=sys.stderr, flush=True)
    finally:
        sys.stderr.flush()
        os._exit(code)
