"""`SeenFiles`: remembers across processes which very large files had the right checksum.

Files up to 256 MB are verified whenever a process opens them. Reading a larger one takes longer than a search, so it is
verified once and then recognised by its inode, size and times. No program can set `ctime`, so every write is noticed.
`mathamr index --check` reads everything and finds damage that the disk itself causes.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from mathamr.core.storage.cachefolder import private_file

SMALLEST = 256 << 20
"""Smaller files are verified every time, in a fraction of a second."""
MOST = 4096
"""Number of files that are remembered; beyond it the record is cleared."""
_LONGEST = 256 * MOST


class SeenFiles:
    """A file in the cache folder with one line per verified file; if it cannot be read or written, nothing is remembered."""

    def __init__(self, path: Path | None = None, smallest: int = SMALLEST, most: int = MOST) -> None:
        self._own_path, self._smallest, self._most = path, smallest, most

    @property
    def _path(self) -> Path | None:
        return self._own_path or private_file("seen-files.txt")

    @cached_property
    def _lines(self) -> set[str]:
        path = self._path
        if path is None:
            return set()
        with suppress(OSError, UnicodeDecodeError):
            if path.stat().st_size < _LONGEST:
                return set(path.read_text(encoding="ascii").splitlines())
            path.unlink()
        return set()

    def __contains__(self, found: os.stat_result) -> bool:
        return found.st_size >= self._smallest and _line(found) in self._lines

    def add(self, found: os.stat_result) -> None:
        """Record a file whose checksum was right."""
        if found.st_size < self._smallest or found in self:
            return
        self._lines.add(_line(found))
        path = self._path
        if path is None:
            return
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            if len(self._lines) > self._most:
                self._lines.clear()
                path.unlink(missing_ok=True)
            with path.open("a", encoding="ascii") as file:
                file.write(_line(found) + "\n")


def _line(found: os.stat_result) -> str:
    numbers = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    return " ".join(map(str, numbers))
