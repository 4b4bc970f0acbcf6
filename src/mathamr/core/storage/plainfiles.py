"""What the folder of an index or a model may contain: regular files and folders, nothing that keeps a reader waiting.

A link in somebody else's index would let a write here change a file elsewhere, and a pipe or a device would block a
reader for ever, so both raise an error before anything in the folder is opened. Models are only read: links to regular
files are followed, because caches of downloaded models consist of them.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from contextlib import suppress
from io import BufferedReader
from pathlib import Path

from mathamr.core.errors import MathAMRError

DEEPEST = 12
MOST = 100_000
LARGEST = 64 << 20
"""The size of the largest description or vocabulary; a sparse file can be longer than any memory."""
DAMAGED = (ValueError, LookupError, TypeError, AttributeError, RecursionError, ArithmeticError)
"""What reading JSON or TOML raises where it does not hold what was written: another type, a key less, an infinite number."""
_LEFT_OVER = re.compile(r"\.[0-9a-f]{16}\.new\Z")


def check_plain(folder: Path) -> None:
    """Raise an error if a link, pipe, socket or device is anywhere in the folder; the folder itself may be a link."""
    waiting, seen = [(folder, 0)], 0
    while waiting:
        here, depth = waiting.pop()
        try:
            with os.scandir(here) as entries:
                for entry in entries:
                    seen += 1
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append((Path(entry.path), depth + 1))
                    elif not entry.is_file(follow_symlinks=False):
                        what = "a link" if entry.is_symlink() else "not a regular file"
                        raise MathAMRError(
                            f"{entry.path!r} is {what}; an index has only files and folders of its own, so it is not"
                            " opened: put the file itself there, or build the index again"
                        )
        except FileNotFoundError:
            continue  # gone meanwhile, or not there yet
        except OSError as error:
            raise MathAMRError(f"cannot read {here}: {error.strerror}") from error
        if depth > DEEPEST or seen > MOST:
            raise MathAMRError(
                f"{folder} is not an index: it has more files and folders than an index can have; check the path"
            )


def open_regular(path: Path) -> BufferedReader:
    """Open a file for reading; a pipe or a device is an `OSError` at once."""
    file = os.fdopen(
        os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb"
    )
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return file


def read_description(path: Path) -> bytes:
    """Return the content of a regular file of at most `LARGEST` bytes."""
    with open_regular(path) as file:
        # Python allocates what it is asked for, which a container of 512 MB may not have.
        content = file.read(min(os.fstat(file.fileno()).st_size, LARGEST) + 1)
    if len(content) > LARGEST:
        raise OSError(errno.EFBIG, f"larger than {LARGEST >> 20} MB", str(path))
    return content


def sweep(folder: Path) -> None:
    """Remove files that a killed process had not finished writing; the caller holds the lock."""
    with suppress(OSError):
        for path in folder.rglob("*.new"):
            if _LEFT_OVER.search(path.name):
                path.unlink(missing_ok=True)
