"""Runs work in a child process: its log is shown and stored, its folder locked while it runs, and it is stopped with this process."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from mathamr.core.errors import MathAMRError


def run_child(what: str, command: Sequence[str], folder: Path, log: str) -> None:
    """Run a command, show its standard error and write it to the file `log` of the folder.

    The folder stays locked until the last process that works in it has ended, even if this one is killed first. A training
    that is stopped with this process finishes its step and saves its state.
    """
    lock = _locked(what, folder)
    with (folder / log).open("w", encoding="utf-8") as kept:
        try:
            process = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, pass_fds=(lock,)
            )
        finally:
            os.close(lock)
        try:
            for line in process.stderr or ():
                said = line.decode("utf-8", "replace")
                kept.write(said)
                kept.flush()
                print(f"    {said}", end="", file=sys.stderr, flush=True)
            status = process.wait()
        except BaseException:
            process.terminate()
            process.wait()
            raise
    if status:
        lines = (folder / log).read_text(encoding="utf-8", errors="replace").splitlines()
        said = lines[-1] if lines else "it said nothing"
        raise MathAMRError(f"{what} in {folder} failed (exit code {status}): {said}")


@contextmanager
def exiting_when_terminated() -> Iterator[None]:
    """End this process in order when it is terminated, so that its child is stopped, too."""
    is_main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, _end) if is_main else None
    try:
        yield
    finally:
        if is_main:
            signal.signal(signal.SIGTERM, before)


def _end(kind: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + kind)


def _locked(what: str, folder: Path) -> int:
    """Return a file descriptor that locks the folder until the last process that holds it ends."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise MathAMRError(
            f"{what}: another process still works in {folder}; wait until it ends, or stop it"
        ) from error
    return descriptor
