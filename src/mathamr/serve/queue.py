"""`WorkQueue`: threads for one kind of work, with a bounded queue that clients share fairly."""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from mathamr.core.cancellation import Cancellation, WorkCancelled
from mathamr.core.errors import MathAMRError
from mathamr.serve.errors import ApiError

T = TypeVar("T")
LOG = logging.getLogger("mathamr.serve")
CLIENT: ContextVar[str] = ContextVar("client", default="")
"""The client whose request is being answered; the middleware sets it."""
EARLY = 0.5
"""A job must be expected to start within this share of its time: a late refusal has cost the client all of its patience."""
USUAL = 0.1
"""The seconds that a job is expected to take before any has ended."""
MOST_CLIENTS = 1_000
"""Clients whose mean time of a job is remembered."""
LONGEST_RETRY = 60
"""The largest `Retry-After`, in seconds."""


def busy(seconds: float) -> ApiError:
    """Return the error for a client that should come back after about so many seconds."""
    after = min(LONGEST_RETRY, max(1, math.ceil(seconds)))
    return ApiError(
        "busy",
        f"the server has too many requests; try again in {after} s",
        headers={"Retry-After": str(after), "Connection": "close"},
    )


@dataclass(eq=False)
class _Job:
    """A piece of work; `begun` resolves when a thread takes it, `done` with its result."""

    work: Callable[[], Any]
    client: str
    cancellation: Cancellation = field(default_factory=Cancellation)
    begun: Future[None] = field(default_factory=Future)
    done: Future[Any] = field(default_factory=Future)

    def fail(self, error: Exception) -> None:
        if self.done.set_running_or_notify_cancel():
            self.done.set_exception(error)


class WorkQueue:
    """Runs blocking work off the event loop.

    Threads take jobs from the waiting clients in turn, so that a client with many requests delays its own, not those
    of others. When the queue is full, a client with few jobs displaces the newest job of the client with most. A job
    that cannot start in time is refused at once. A job that runs too long, or whose client has left, is cancelled: its
    thread is free as soon as the work checks that, and not before, so that slow work cannot pile up. `reserve`
    threads beside the workers only take jobs of clients of whom nothing runs, so that a client with slow work cannot hold
    all of them.
    """

    def __init__(self, name: str, workers: int, waiting: int, reserve: int = 0) -> None:
        self.name, self.workers, self.waiting, self.reserve = name, workers, waiting, reserve
        self._threads = ThreadPoolExecutor(workers + reserve, thread_name_prefix=f"mathamr-{name}")
        self._queues: OrderedDict[str, deque[_Job]] = OrderedDict()
        self._running: Counter[str] = Counter()
        self._is_closed = False
        self._mean_seconds: OrderedDict[str, float] = OrderedDict()
        self._lock = threading.Lock()
        self._start_threads(workers + reserve)

    def _start_threads(self, count: int) -> None:
        """Start all threads now: one that could not be started later would leave its job, and the queue, waiting."""
        all_started = threading.Barrier(count + 1)
        try:
            for _ in range(count):
                self._threads.submit(all_started.wait)
            all_started.wait()
        except RuntimeError as error:
            all_started.abort()
            self._threads.shutdown(wait=False, cancel_futures=True)
            raise MathAMRError(
                f"the system refuses to start {count} threads ({error}); raise its limits (ulimit -u, ulimit -v),"
                " or start fewer with --limit workers=1"
            ) from error

    @property
    def taken(self) -> int:
        """The number of jobs that run or wait."""
        return self._running.total() + sum(map(len, self._queues.values()))

    async def run(self, work: Callable[[], T], seconds: float | None) -> T:
        """Return the result of `work`, which may wait for `seconds` and then run as long.

        With None there is no limit, and work that has begun is never cancelled.
        """
        job = _Job(work, CLIENT.get())
        self._add(job, seconds)
        begun, done = asyncio.wrap_future(job.begun), asyncio.wrap_future(job.done)
        done.add_done_callback(_mark_retrieved)
        either: list[asyncio.Future[Any]] = [begun, done]
        try:
            await asyncio.wait(either, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if self._withdraw(job):
                raise self._refusal()
            await asyncio.wait([done], timeout=seconds)
        except asyncio.CancelledError:
            if not self._withdraw(job) and seconds is not None:
                job.cancellation.cancel()
            done.cancel()
            raise
        if not done.done():
            job.cancellation.cancel()
            raise ApiError("timeout", f"this took longer than {seconds:g} seconds; ask for less at once")
        result: T = done.result()
        return result

    def start(self, work: Callable[[], None]) -> None:
        """Run work that nobody waits for in its turn; what goes wrong is logged."""
        job = _Job(work, CLIENT.get())
        self._add(job, None)
        job.done.add_done_callback(partial(_log_failure, self.name))

    def close(self) -> None:
        """Accept no more work, fail what waits, and return when what runs has ended."""
        with self._lock:
            self._is_closed = True
            waiting = [job for queue in self._queues.values() for job in queue]
            self._queues.clear()
        for job in waiting:
            job.fail(ApiError("unavailable", "the server is stopping"))
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _add(self, job: _Job, seconds: float | None) -> None:
        with self._lock:
            if self._is_closed:
                raise ApiError("unavailable", "the server is stopping")
            if seconds is not None and self._expected_wait(job.client) > EARLY * seconds:
                raise self._refusal()
            displaced = self._displaced_by(job.client) if self.taken >= self.workers + self.waiting else None
            self._queues.setdefault(job.client, deque()).append(job)
            self._start_jobs()
        if displaced is not None:
            displaced.fail(self._refusal())

    def _expected_wait(self, client: str) -> float:
        """Return seconds until a new job of the client would start, counted by the jobs that go before it."""
        if self._has_thread_for(client):
            return 0.0
        own = len(self._queues.get(client, ()))
        turns = sum(min(len(queue), own + 1) * self._mean_of(each) for each, queue in self._queues.items())
        if not self.reserve:
            return turns / self.workers
        # Where others hold the workers, its jobs follow each other in a reserved thread.
        return min(turns / self.workers, own * self._mean_of(client))

    def _has_thread_for(self, client: str) -> bool:
        running = self._running.total()
        return running < self.workers or (running < self.workers + self.reserve and not self._running[client])

    def _mean_of(self, client: str) -> float:
        """Return the mean seconds of the client's jobs; of one that is not known, that of all clients."""
        known = self._mean_seconds.get(client)
        return self._mean_of_all() if known is None else known

    def _mean_of_all(self) -> float:
        return sum(self._mean_seconds.values()) / len(self._mean_seconds) if self._mean_seconds else USUAL

    def _displaced_by(self, client: str) -> _Job:
        """Take the newest job of the client with most, if that leaves it with no fewer than the other one."""
        longest = max(self._queues.values(), key=len, default=None)
        if longest is None or len(longest) <= len(self._queues.get(client, ())) + 1:
            raise self._refusal()
        return longest.pop()

    def _refusal(self) -> ApiError:
        return busy(self._mean_of_all() * self.taken / self.workers)

    def _withdraw(self, job: _Job) -> bool:
        """Remove a job that waits; False if it runs, has ended or was displaced."""
        with self._lock:
            queue = self._queues.get(job.client)
            if queue is None or job not in queue:
                return False
            queue.remove(job)
            if not queue:
                del self._queues[job.client]
            return True

    def _start_jobs(self) -> None:
        """Start the next jobs for which there are threads; the lock is held."""
        while not self._is_closed:
            # In turn, but first those who hold the fewest threads, each counted by the time of the client's jobs.
            ready = filter(self._has_thread_for, self._queues)
            client = min(ready, key=lambda each: self._running[each] * self._mean_of(each), default=None)
            if client is None:
                return
            queue = self._queues.pop(client)
            job = queue.popleft()
            if queue:
                self._queues[client] = queue
            self._running[client] += 1
            self._threads.submit(self._run, job)

    def _run(self, job: _Job) -> None:
        with self._counted(job.client):
            if not job.done.set_running_or_notify_cancel():
                return
            job.begun.set_result(None)
            try:
                with job.cancellation.applied():
                    settle = partial(job.done.set_result, job.work())
            except WorkCancelled:
                settle = partial(job.done.set_exception, ApiError("timeout", "the work was cancelled"))
            except BaseException as error:
                settle = partial(job.done.set_exception, error)
        settle()  # not earlier: whoever gets the answer may ask again and must find the thread free

    @contextmanager
    def _counted(self, client: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            with self._lock:
                self._running[client] -= 1
                self._running += Counter()  # forgets clients of whom nothing runs
                mean = self._mean_of(client)
                self._mean_seconds[client] = mean + 0.1 * (time.perf_counter() - started - mean)
                self._mean_seconds.move_to_end(client)
                if len(self._mean_seconds) > MOST_CLIENTS:
                    self._mean_seconds.popitem(last=False)
                self._start_jobs()


def _log_failure(name: str, done: Future[Any]) -> None:
    error = None if done.cancelled() else done.exception()
    if error is not None and not isinstance(error, ApiError):
        LOG.error("the work of the %s queue failed; the next request begins it again", name, exc_info=error)


def _mark_retrieved(done: asyncio.Future[Any]) -> None:
    """Look at the outcome of a job that nobody waits for any more, so that asyncio does not complain."""
    if not done.cancelled():
        done.exception()
