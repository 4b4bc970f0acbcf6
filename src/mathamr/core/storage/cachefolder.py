"""The cache folder, if only its owner can write to it: what others could have written there is not believed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from mathamr.core.settings import CACHE


def private_cache() -> Path | None:
    """The cache folder; None if another user owns it or everybody may write to it."""
    folder = CACHE.path
    try:
        found = folder.stat()
    except OSError:
        return folder  # it does not exist yet
    if hasattr(os, "getuid") and (
        found.st_uid not in (os.getuid(), 0) or stat.S_IMODE(found.st_mode) & stat.S_IWOTH
    ):
        return None
    return folder
