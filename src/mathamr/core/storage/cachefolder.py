"""The cache folder: its files are used only if nobody but their owner can write to them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.core.settings import CACHE

HINT = f"keep others out of it with chmod -R go-w, or set {CACHE.name} to another folder"


def private_cache() -> Path | None:
    """Return the cache folder, created if it is missing; None if it cannot be, another user owns it, or others may write to it."""
    folder = CACHE.path
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder if _is_private(folder.stat()) else None
    except OSError:
        return None


def private_file(name: str) -> Path | None:
    """Return the path of a file in the cache folder, which is created if it is missing; None if others could have written it.

    Files whose names begin like its name belong to it: SQLite's journals do.
    """
    folder = private_cache()
    if folder is None:
        return None
    try:
        path = folder / name
        os.close(
            os.open(
                path,
                os.O_CREAT | os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0),
                0o600,
            )
        )
        found = [each.lstat() for each in folder.glob(f"{name}*")]
    except OSError:
        return None
    return path if all(stat.S_ISREG(each.st_mode) and _is_private(each) for each in found) else None


def own_cache() -> Path:
    """Return the cache folder, for what needs one; raise an error if there is none that only this user can write to."""
    folder = private_cache()
    if folder is None:
        raise MathAMRError(
            f"the cache folder {CACHE.path} cannot be written, or others may write to it; {HINT}"
        )
    return folder


def _is_private(found: os.stat_result) -> bool:
    """Return True if this user or root owns a file and nobody else may write to it."""
    if not hasattr(os, "getuid"):
        return True
    return found.st_uid in (os.getuid(), 0) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
