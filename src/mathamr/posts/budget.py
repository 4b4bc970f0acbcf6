"""The budget of a file: the processor time that reading it may take, kept in one place for all formats.

A reader's own limits keep it linear; this stops what is not, such as a library that takes quadratic time. It stops Python
between two instructions, so a single long call of a library written in C is not interrupted: patterns must be linear.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from mathamr.posts.post import Post
from mathamr.posts.report import Report

_EVERY = 0.1
"""Seconds between two looks at the clock."""


class OverBudgetError(Exception):
    """Reading a file took more processor time than it may."""


def keep_budget(posts: Iterator[Post], report: Report, seconds: float) -> Iterator[Post]:
    """Yield posts, and raise `OverBudgetError` where one file takes too long: `seconds` and as much again for every MB of it.

    `report` says which file is read; what is done with a post between two of them does not count.
    """
    watch = _Watch(report, seconds)
    try:
        while True:
            watch.resume()
            try:
                post = next(posts)
            except StopIteration:
                return
            finally:
                watch.pause()
            yield post
    finally:
        watch.ended.set()


class _Watch:
    """Watches the thread that makes it from another one, which ends with `ended`."""

    def __init__(self, report: Report, seconds: float) -> None:
        self.ended = threading.Event()
        self._report, self._seconds = report, seconds
        self._thread = threading.get_ident()
        self._clock = _clock_of(self._thread)
        self._lock = threading.Lock()
        self._is_reading = self._has_raised = False
        self._elsewhere = self._paused_at = 0.0
        self._file, self._since, self._bytes = "", 0.0, 0
        threading.Thread(target=self._look, daemon=True, name="budget of a file").start()

    def resume(self) -> None:
        """Go on reading."""
        self._elsewhere += time.thread_time() - self._paused_at
        self._is_reading = True

    def pause(self) -> None:
        """Stop the clock; an exception that was not raised in time is taken back."""
        with self._lock:
            self._is_reading = False
        if self._has_raised:
            _raise_in(self._thread, None)
        self._paused_at = time.thread_time()

    def _look(self) -> None:
        while not self.ended.wait(_EVERY):
            with self._lock:
                if self._is_reading and self._is_over():
                    self._has_raised = True
                    self._since = self._clock() - self._elsewhere  # it may clean up undisturbed
                    _raise_in(self._thread, OverBudgetError)

    def _is_over(self) -> bool:
        used = self._clock() - self._elsewhere
        if self._report.file != self._file:
            self._file, self._since, self._bytes = self._report.file, used, self._report.bytes_read
        if not self._file:  # between files, such as while all of them are looked through
            return False
        if used - self._since <= self._seconds:
            return False
        size = max(self._report.bytes_read - self._bytes, _size(self._file))
        return used - self._since > self._seconds * (1 + size / 1e6)


def _clock_of(thread: int) -> Callable[[], float]:
    """Return a clock of a thread's processor time; of the whole process where the system has none, as macOS."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return time.process_time
    return partial(time.clock_gettime, time.pthread_getcpuclockid(thread))


def _size(file: str) -> int:
    try:
        return Path(file).stat().st_size
    except (OSError, ValueError):
        return 0


def _raise_in(thread: int, error: type[Exception] | None) -> None:
    """Let a thread raise an error at its next instruction; `None` takes back one that it has not raised yet."""
    given = None if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), given)
