"""Several worker processes that serve one index on one port, and a process that replaces those that end.

Python runs one thread at a time, so one process uses one processor however many queries wait. All workers read the same
files through the system's page cache. Only one process may change an index, so a server with a key for writing has one.
"""

from __future__ import annotations

import logging
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from mathamr.core.errors import MathAMRError
from mathamr.core.workers import processors

LOG = logging.getLogger("mathamr.serve")
LOOK_SECONDS = 0.5
"""How long the place of a process that has ended may stay empty."""
LONGEST_PAUSE = 60.0
"""Seconds until a process that cannot start is tried again."""
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


class Supervisor:
    """Forks processes that serve, and another one for each that ends; they end with this process, however it ends."""

    def __init__(self, count: int, run: Callable[[Callable[[], None]], None]) -> None:
        self._run, self._count = run, count
        self._workers: list[_Worker] = []
        self._alive, self._held = os.pipe()
        self._failures, self._not_before = 0, 0.0

    def supervise(self, announce: Callable[[], None]) -> None:
        """Run until this process is told to stop. `run` gets a function to call when it answers; the first call calls `announce`.

        Call it before any thread is started. If a process ends before any has answered, this raises an error.
        """
        announced = False
        try:
            while True:
                while len(self._workers) < self._count and time.monotonic() >= self._not_before:
                    self._workers.append(self._fork())
                if self._look_for_answers() and not announced:
                    announced = True
                    announce()
                self._reap(has_answered=announced)
        finally:
            self._stop()

    def _fork(self) -> _Worker:
        reports, answers = os.pipe()
        child = os.fork()
        if not child:
            for handle in (self._held, reports, *(each.reports for each in self._workers)):
                os.close(handle)
            _run_child(self._alive, partial(self._run, lambda: _report(answers)))
        os.close(answers)
        return _Worker(child, reports)

    def _look_for_answers(self) -> bool:
        """Wait a moment; return True if a process answers."""
        silent = {each.reports: each for each in self._workers if not each.answers}
        ready, _, _ = select.select(list(silent), [], [], LOOK_SECONDS)
        for handle in ready:
            if os.read(handle, 1):  # nothing is left to read once the process has ended
                silent[handle].answers, self._failures = True, 0
        return any(each.answers for each in self._workers)

    def _reap(self, *, has_answered: bool) -> None:
        """Forget the processes that have ended; one that could not start is tried again after a while."""
        for each in list(self._workers):
            pid, status = os.waitpid(each.pid, os.WNOHANG)
            if not pid:
                continue
            self._workers.remove(each)
            os.close(each.reports)
            if not has_answered:
                raise MathAMRError("a worker process of the server could not start; it says above why")
            if not each.answers:
                self._failures += 1
                self._not_before = time.monotonic() + min(LONGEST_PAUSE, 2.0**self._failures)
            code = os.waitstatus_to_exitcode(status)
            how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"
            LOG.error("worker process %d %s; another one takes its place", each.pid, how)

    def _stop(self) -> None:
        os.close(self._held)
        os.close(self._alive)
        for each in self._workers:
            with suppress(ProcessLookupError):
                os.kill(each.pid, signal.SIGTERM)
        for each in self._workers:
            with suppress(ChildProcessError):
                os.waitpid(each.pid, 0)
            os.close(each.reports)


@dataclass(eq=False)
class _Worker:
    pid: int
    reports: int
    """A pipe with a byte in it once the process answers."""
    answers: bool = False


def _report(answers: int) -> None:
    os.write(answers, b"1")
    os.close(answers)


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
