"""What may lie in an index directory: plain files and folders, nothing that leads out of it.

A link in a folder that somebody else made would let a write here change a file elsewhere, and a pipe or a device would
keep a reader waiting for ever; so both are refused before anything of the folder is opened.
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
    """Refuses a folder with a link, a pipe, a socket or a device anywhere in it; the folder itself may be a link."""
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
                        what = "a link" if entry.is_symlink() else "no plain file"
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
    """Removes the files that a killed process had not finished writing; only for who holds the lock."""
    with suppress(OSError):
        for path in folder.rglob("*.new"):
            if _LEFT_OVER.search(path.name):
                path.unlink(missing_ok=True)
