"""Runs work in a child process: its log is shown and stored, its folder locked while it runs, and it can be stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from mathamr.core.errors import MathAMRError

_RUNNING: set[subprocess.Popen[bytes]] = set()


def run_child(
    what: str, command: Sequence[str], folder: Path, log: str, threads: int, given: bytes = b""
) -> None:
    """Run a command, show its standard error and write it to the file `log` of the folder; `given` is its input.

    The folder stays locked until the last process that works in it has ended, even if this one is killed first.
    """
    lock = _locked(what, folder)
    with (folder / log).open("w", encoding="utf-8") as kept:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=os.environ | {"OMP_NUM_THREADS": str(threads)},
                pass_fds=(lock,),
            )
        finally:
            os.close(lock)
        _RUNNING.add(process)
        try:
            # A thread writes the input, since a child that fails early leaves it unread.
            threading.Thread(target=_feed, args=(process, given), daemon=True).start()
            for line in process.stderr or ():
                said = line.decode("utf-8", "replace")
                kept.write(said)
                kept.flush()
                print(f"    {said}", end="", file=sys.stderr, flush=True)
            status = process.wait()
        finally:
            _RUNNING.discard(process)
    if status:
        lines = (folder / log).read_text(encoding="utf-8", errors="replace").splitlines()
        said = lines[-1] if lines else "it said nothing"
        raise MathAMRError(f"{what} in {folder} failed (exit code {status}): {said}")


def stop_children() -> None:
    """Ask all children of this process to end, and waits: trainings finish their step and save their state."""
    for process in list(_RUNNING):
        process.terminate()
    for process in list(_RUNNING):
        process.wait()


def as_child(work: Callable[[Any], None]) -> int:
    """Do the work that the parent process sends on standard input; return 0 when done, 1 after a clear error."""
    try:
        work(json.load(sys.stdin.buffer))
    except MathAMRError as error:
        print(f"mathamr: {error}", file=sys.stderr)
        return 1
    return 0


@contextmanager
def stopping_children() -> Iterator[None]:
    """End the child processes when this process is interrupted or terminated; trainings save their state."""
    is_main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGTERM) if is_main else None
    if is_main:
        signal.signal(signal.SIGTERM, _end)
    try:
        yield
    except BaseException:
        stop_children()
        raise
    finally:
        if is_main:
            signal.signal(signal.SIGTERM, before)


def _end(kind: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + kind)


def _feed(process: subprocess.Popen[bytes], given: bytes) -> None:
    assert process.stdin is not None
    try:
        with process.stdin as pipe:
            pipe.write(given)
    except BrokenPipeError:
        pass  # the child reports itself why it ended


def _locked(what: str, folder: Path) -> int:
    """Return a file descriptor that locks the folder until the last process that holds it ends."""
    import fcntl

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
