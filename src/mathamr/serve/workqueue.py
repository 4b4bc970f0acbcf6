"""`WorkQueue`: a thread pool for one kind of work, with a bounded queue and a time limit per piece of work."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from mathamr.serve.errors import ApiError

T = TypeVar("T")
LONGEST_WAIT = 60
"""The longest `Retry-After`, in seconds."""


class WorkQueue:
    """Runs blocking work off the event loop.

    Work is refused as busy if every thread is taken and the queue is full, or if it has waited too long for a thread.
    Work that takes too long is answered with an error; its place becomes free only when the thread has really ended,
    so that slow queries cannot pile up.
    """

    def __init__(self, name: str, workers: int, waiting: int) -> None:
        self.name, self.workers, self.waiting = name, workers, waiting
        self.refused = self.timed_out = 0
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix=f"mathamr-{name}")
        self._taken = 0
        self._usual = 0.1  # running mean of the seconds per piece of work
        self._lock = threading.Lock()

    @property
    def taken(self) -> int:
        """The number of pieces of work that run or wait."""
        return self._taken

    async def run(self, work: Callable[[], T], seconds: float | None) -> T:
        """Runs `work`, which may wait up to `seconds` for a thread and then run as long; None means no limit."""
        with self._lock:
            if self._taken >= self.workers + self.waiting:
                raise self._busy()
            self._taken += 1
        loop, begun = asyncio.get_running_loop(), asyncio.Event()

        def timed() -> T:
            with suppress(RuntimeError):  # the loop has ended, so nobody waits any more
                loop.call_soon_threadsafe(begun.set)
            started = time.perf_counter()
            try:
                return work()
            finally:
                self._usual += 0.1 * (time.perf_counter() - started - self._usual)

        future = self._submitted(timed)
        try:
            return await self._waited(future, begun, seconds)
        except asyncio.CancelledError:
            future.cancel()
            raise

    async def _waited(self, future: Future[T], begun: asyncio.Event, seconds: float | None) -> T:
        waiter = asyncio.wrap_future(future)
        turn = asyncio.ensure_future(begun.wait())
        either: list[asyncio.Future[Any]] = [turn, waiter]
        await asyncio.wait(either, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        turn.cancel()
        if waiter.cancelled():
            raise ApiError("unavailable", "the server is stopping")
        if not begun.is_set() and future.cancel():
            raise self._busy()
        done, _ = await asyncio.wait([waiter], timeout=seconds)
        if not done:
            self.timed_out += 1
            waiter.add_done_callback(_forget)
            raise ApiError("timeout", f"this took longer than {seconds:g} seconds; request less at once")
        return waiter.result()

    def close(self) -> None:
        """Accepts no more work, drops the queue, and returns when running work has ended."""
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _submitted(self, work: Callable[[], T]) -> Future[T]:
        try:
            future = self._threads.submit(work)
        except RuntimeError as error:
            self._give_back()
            raise ApiError("unavailable", "the server is stopping") from error
        future.add_done_callback(lambda _: self._give_back())
        return future

    def _busy(self) -> ApiError:
        self.refused += 1
        after = min(LONGEST_WAIT, max(1, math.ceil(self._usual * self._taken / self.workers)))
        return ApiError(
            "busy", f"too many requests at once; try again in {after} s", headers={"Retry-After": str(after)}
        )

    def _give_back(self) -> None:
        with self._lock:
            self._taken -= 1


def _forget(waiter: asyncio.Future[T]) -> None:
    """Retrieves the exception of late work that nobody awaits, so that asyncio does not log it as unhandled."""
    if not waiter.cancelled():
        waiter.exception()
