"""The budget of a file: the processor time that telling its format, reading and analysing it may take, for all formats in one place.

A reader's own limits keep it linear; this ends what is not. In a main thread a timer's signal raises the error, also inside a regular
expression, which holds the interpreter's lock but looks for signals. In other threads only Python is stopped, between two
instructions: a server reads what clients write in a process that it can end (see `index/indexing/guarded.py`).
"""

from __future__ import annotations

import ctypes
import signal
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TypeVar

from mathamr.posts.inputs import size_of
from mathamr.posts.post import Post
from mathamr.posts.report import Report

T = TypeVar("T")
_EVERY = 0.1
"""Seconds between two looks at the clock."""


class OverBudgetError(BaseException):
    """Reading a file took more processor time than it may; no `except Exception` of a library keeps it."""


def keep_budget(posts: Iterator[Post], report: Report, seconds: float, size: int = 0) -> Iterator[Post]:
    """Yield posts, and raise `OverBudgetError` where one file takes too long: `seconds` and as much again for every MB of it.

    `report` says which file is read; what is done with a post between two of them does not count. Before the first file, and
    between files, a reader may look through all of them, which have `size` bytes.
    """
    watch = _watch(_FileLimit(report, seconds, size).is_over)
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
        watch.end()


def within_budget(work: Callable[[], T], seconds: float) -> T:
    """Return the result of some work; raise `OverBudgetError` if it takes more processor time than this in a main thread."""
    if not _has_signals():
        return work()
    watch = _TimedWatch(lambda used: used > seconds)
    watch.resume()
    try:
        return work()
    finally:
        watch.pause()


class _FileLimit:
    """Says whether the file that is read now has used up its time."""

    def __init__(self, report: Report, seconds: float, size: int) -> None:
        self._report, self._seconds, self._all = report, seconds, size
        self._file, self._since, self._bytes = "", 0.0, 0

    def is_over(self, used: float) -> bool:
        """Return True if the file has; `used` is the time that was spent on all files so far."""
        if self._report.file != self._file:
            self._file, self._since, self._bytes = self._report.file, used, self._report.bytes_read
        if used - self._since <= self._seconds:
            return False
        size = (
            max(self._report.bytes_read - self._bytes, size_of(Path(self._file))) if self._file else self._all
        )
        if used - self._since <= self._seconds * (1 + size / 1e6):
            return False
        self._since = used  # it may clean up undisturbed
        return True


class _TimedWatch:
    """Raises the error from a timer's signal, which Python handles in its main thread alone."""

    def __init__(self, is_over: Callable[[float], bool]) -> None:
        self._is_over = is_over
        self._used = self._resumed_at = 0.0
        self._outer: _TimedWatch | None = None

    def resume(self) -> None:
        """Go on reading."""
        global _current
        self._outer, _current = _current, self
        self._resumed_at = time.thread_time()
        signal.setitimer(signal.ITIMER_VIRTUAL, _EVERY, _EVERY)

    def pause(self) -> None:
        """Stop the clock."""
        global _current
        _current = self._outer
        if _current is None:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        self._used += time.thread_time() - self._resumed_at

    def end(self) -> None:
        """Forget the watch, which is paused."""

    def look(self) -> None:
        """Raise the error if the time is over."""
        if self._is_over(self._used + time.thread_time() - self._resumed_at):
            raise OverBudgetError
        if self._outer is not None:
            self._outer.look()


_current: _TimedWatch | None = None


def _on_timer(_signal: int, _frame: FrameType | None) -> None:
    if _current is not None:
        _current.look()


def _has_signals() -> bool:
    """Return whether this thread gets the timer's signals, and nobody else uses them."""
    if threading.current_thread() is not threading.main_thread():
        return False
    handler = signal.getsignal(signal.SIGVTALRM)
    if handler is signal.SIG_DFL:
        signal.signal(signal.SIGVTALRM, _on_timer)
    return handler in (signal.SIG_DFL, _on_timer)


class _ThreadWatch:
    """Watches a thread that gets no signals from another one, which ends with `end`."""

    def __init__(self, is_over: Callable[[float], bool]) -> None:
        self._is_over = is_over
        self._ended = threading.Event()
        self._thread = threading.get_ident()
        self._clock = _clock_of(self._thread)
        self._lock = threading.Lock()
        self._is_reading = self._has_raised = False
        self._elsewhere = self._paused_at = 0.0
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

    def end(self) -> None:
        """End the other thread."""
        self._ended.set()

    def _look(self) -> None:
        while not self._ended.wait(_EVERY):
            with self._lock:
                if self._is_reading and self._is_over(self._clock() - self._elsewhere):
                    self._has_raised = True
                    _raise_in(self._thread, OverBudgetError)


def _watch(is_over: Callable[[float], bool]) -> _TimedWatch | _ThreadWatch:
    return _TimedWatch(is_over) if _has_signals() else _ThreadWatch(is_over)


def _clock_of(thread: int) -> Callable[[], float]:
    """Return a clock of a thread's processor time; of the whole process where the system has none, as macOS."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return time.process_time
    return partial(time.clock_gettime, time.pthread_getcpuclockid(thread))


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Let a thread raise an error at its next instruction; `None` takes back one that it has not raised yet."""
    given = None if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), given)
