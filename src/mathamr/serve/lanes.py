"""`Lane`: threads for one kind of work, with a bounded queue and a time limit a piece of work."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from mathamr.serve.errors import ApiError

T = TypeVar("T")


class Lane:
    """Runs blocking work off the event loop.

    Work that finds every thread taken and the queue full is sent away at once. Work past its time is answered with
    an error; its place is free again only when the thread has really ended, so that slow queries cannot pile up.
    """

    def __init__(self, name: str, workers: int, waiting: int) -> None:
        self.name, self.workers, self.waiting = name, workers, waiting
        self.refused = self.timed_out = 0
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix=f"mathamr-{name}")
        self._taken = 0
        self._lock = threading.Lock()

    @property
    def taken(self) -> int:
        """How many pieces of work run or wait."""
        return self._taken

    async def run(self, work: Callable[[], T], seconds: float | None) -> T:
        """The result of `work`, within `seconds` from now on; None waits as long as it takes."""
        with self._lock:
            if self._taken >= self.workers + self.waiting:
                self.refused += 1
                raise ApiError(
                    "busy", "too many requests at once; try again in a second", headers={"Retry-After": "1"}
                )
            self._taken += 1
        future = self._submitted(work)
        waiter = asyncio.wrap_future(future)
        try:
            done, _ = await asyncio.wait([waiter], timeout=seconds)
        except asyncio.CancelledError:
            future.cancel()
            raise
        if not done:
            self.timed_out += 1
            future.cancel()
            waiter.add_done_callback(_forget)
            raise ApiError("timeout", f"this took longer than {seconds:g} seconds; ask for less at once")
        return waiter.result()

    def close(self) -> None:
        """Takes no more work, drops what waits, and returns when what runs has ended."""
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _submitted(self, work: Callable[[], T]) -> Future[T]:
        try:
            future = self._threads.submit(work)
        except RuntimeError as error:
            self._give_back()
            raise ApiError("unavailable", "the server is stopping") from error
        future.add_done_callback(lambda _: self._give_back())
        return future

    def _give_back(self) -> None:
        with self._lock:
            self._taken -= 1


def _forget(waiter: asyncio.Future[T]) -> None:
    """Looks at the outcome of late work, which nobody waits for any more, so that asyncio does not complain."""
    if not waiter.cancelled():
        waiter.exception()
