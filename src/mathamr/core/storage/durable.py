"""Files that survive a crash: written under another name, synced, then renamed."""

from __future__ import annotations

import os
import secrets
import shutil
from contextlib import suppress
from pathlib import Path

from mathamr.core.errors import MathAMRError


def write_whole(path: Path, content: bytes) -> None:
    """Write a file completely or leave it as it was, even when the machine stops."""
    write_parts(path, [content])


def write_parts(path: Path, parts: list[bytes | memoryview]) -> None:
    """Write a file like `write_whole`, from several pieces."""
    # An unpredictable name that must be new, so that a link placed there beforehand is never followed.
    beside = path.with_name(f"{path.name}.{secrets.token_hex(8)}.new")
    try:
        with beside.open("xb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise MathAMRError(
            f"cannot write {path}: {error.strerror or error}; nothing of it was changed"
        ) from error


def sync_folder(folder: Path) -> None:
    """Make new and changed names in a folder survive a crash."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def check_room(folder: Path, needed: int) -> None:
    """Raise an error if the disk has too little room: writing to mapped memory on a full disk kills the process."""
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise MathAMRError(
            f"cannot write in {folder} ({error.strerror or error}); is the folder still where it was?"
        ) from error
    if free < needed:
        raise MathAMRError(
            f"the disk of {folder} is nearly full: {free >> 20:,} MB are free, {needed >> 20:,} MB are needed; "
            "make room and try again"
        )
