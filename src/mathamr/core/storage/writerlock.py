"""`WriterLock`: lets only one process at a time change an index directory."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from mathamr.core.errors import MathAMRError

LOCK = "lock"
PATIENCE_SECONDS = 0.1
"""How long a lock must be held by others before it counts as taken."""
_PAUSE = 0.001


class InUseError(MathAMRError):
    """Another process holds the lock."""


class WriterLock:
    """A lock that is held from construction until `release`; the operating system releases it when the process ends.

    The file stays, with a line about its last holder. Only the lock on it counts, so a killed process blocks nobody.
    """

    def __init__(self, folder: Path, purpose: str) -> None:
        self.path = folder / LOCK
        self._handle: int | None = None
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        except OSError as error:
            raise MathAMRError(f"cannot write in {folder}: {error.strerror}") from error
        try:
            _take(handle)
        except OSError as error:
            holder = _holder(handle)
            os.close(handle)
            raise InUseError(
                f"{folder} is being changed by {holder}; wait until it has ended, or stop it"
            ) from error
        self._handle = handle
        row = {"pid": os.getpid(), "host": socket.gethostname(), "purpose": purpose}
        try:
            os.ftruncate(handle, 0)
            os.pwrite(handle, json.dumps(row).encode() + b"\n", 0)
        except OSError as error:
            self.release()
            raise MathAMRError(f"cannot write in {folder}: {error.strerror}") from error

    @property
    def held(self) -> bool:
        """True until it is released."""
        return self._handle is not None

    def release(self) -> None:
        """Release the lock; it may be called twice."""
        handle, self._handle = self._handle, None
        if handle is not None:
            os.close(handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _take(handle: int) -> None:
    """Take the lock; try again for a moment, since whoever asks for the holder has it while looking (`holder_of`)."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
        time.sleep(_PAUSE)


def holder_of(folder: Path) -> str | None:
    """Return a description of the process that is changing an index directory; `None` if there is none or it cannot be determined."""
    try:
        handle = os.open(folder / LOCK, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return _holder(handle)
    else:
        return None
    finally:
        os.close(handle)


def _holder(handle: int) -> str:
    try:
        row: dict[str, Any] = json.loads(os.pread(handle, 4096, 0))
        own = (row["pid"], row["host"]) == (os.getpid(), socket.gethostname())
        which = "this process" if own else f"process {row['pid']} on {row['host']}"
        return f"{which} ({row['purpose']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
