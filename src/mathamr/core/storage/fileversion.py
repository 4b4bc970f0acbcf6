"""Which file lies at a path, and in which version: tells whoever holds it open that another one has taken its place."""

from __future__ import annotations

from pathlib import Path

FileIdentity = tuple[int, int]
FileVersion = tuple[int, int, int, int]


def file_identity(path: Path) -> FileIdentity | None:
    """Return what stays the same while a file is written to; `None` if there is none."""
    version = file_version(path)
    return None if version is None else version[:2]


def file_version(path: Path) -> FileVersion | None:
    """Return what changes with every write to a file; `None` if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
