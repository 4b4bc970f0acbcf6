"""What an index directory may contain: regular files and folders, nothing that leads out of it.

A link in somebody else's folder would let a write here change a file elsewhere, and a pipe or a device would block a
reader for ever, so both raise an error before anything in the folder is opened.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from mathamr.core.errors import MathAMRError

DEEPEST = 12
MOST = 100_000
_LEFT_OVER = re.compile(r"\.[0-9a-f]{16}\.new\Z")


def check_plain(folder: Path) -> None:
    """Raises an error if a link, pipe, socket or device is anywhere in the folder; the folder itself may be a link."""
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
                f"{folder} has more folders or files in it than any index; it is not opened: is it the right folder?"
            )


def sweep(folder: Path) -> None:
    """Removes files that a killed process had not finished writing; the caller holds the lock."""
    with suppress(OSError):
        for path in folder.rglob("*.new"):
            if _LEFT_OVER.search(path.name):
                path.unlink(missing_ok=True)
