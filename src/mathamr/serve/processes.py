"""Several processes that serve one index: all map the same files into memory and answer on the same port.

Python runs one thread at a time, so one process uses one processor however many queries wait. The processes take connections
from one queue, in turns (`fairshare`). An index has only one writer, so a server with a key for writing is one process.
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
"""Default upper limit of processes: each has its own AMR parser and with it about 250 MB of memory that is not shared."""


def process_count(requested: int | None, index: Path, *, writes: bool) -> int:
    """The number of processes for an index: as requested, else one per processor; one if the index cannot be shared."""
    if not hasattr(os, "fork"):
        reason = "this system cannot share a port between processes"
    elif writes:
        reason = "a server that takes writes is one process"
    elif not ENGINES[Manifest.read(index).engine.name].capabilities.concurrent:
        reason = "only one process at a time can open the index's engine"
    else:
        return requested or min(MOST, processors())
    if requested is not None and requested > 1:
        raise MathAMRError(f"{requested} processes cannot serve this index: {reason}; omit --processes")
    return 1


@contextmanager
def siblings(count: int, run: Callable[[int], None]) -> Iterator[Callable[[], None]]:
    """Forks `count` processes that call `run` with their number, from one; they end with this process, however it ends.

    Call it before any thread is started and before anything large is loaded. The context's value stops all of them.
    """
    alive, held = os.pipe()
    started: list[int] = []
    for number in range(1, count + 1):
        child = os.fork()
        if not child:
            os.close(held)
            _run_sibling(alive, partial(run, number))
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


def _run_sibling(alive: int, run: Callable[[], None]) -> None:
    """Runs in a sibling until it is stopped or the first process has ended; never returns."""

    def watch() -> None:
        os.read(alive, 1)  # returns when every process has closed the other end
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
