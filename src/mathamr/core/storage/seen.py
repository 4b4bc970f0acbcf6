"""`SeenFiles`: which files had their checksum when they were last looked at, remembered from one process to the next.

To read a large file for its checksum takes longer than to search it. A file is known by where it lies on its disk, its size, and when it
was changed: the second of these times (`ctime`) no program can set, so that whatever was written to a file since is seen. What a disk
loses by itself is not: `mathamr index --check` reads everything.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from mathamr.core.settings import CACHE

SMALLEST = 4 << 20
"""Smaller files are read every time: that takes two milliseconds."""
MOST = 4096
"""Files that are remembered; then all are forgotten."""
_LONGEST = 256 * MOST


class SeenFiles:
    """A file in the folder of caches, a line a file; where it cannot be read or written, nothing is remembered."""

    def __init__(self, path: Path | None = None) -> None:
        self._given = path

    @property
    def _path(self) -> Path:
        return self._given or CACHE.path / "seen-files.txt"

    @cached_property
    def _lines(self) -> set[str]:
        with suppress(OSError, UnicodeDecodeError):
            if self._path.stat().st_size < _LONGEST:
                return set(self._path.read_text(encoding="ascii").splitlines())
            self._path.unlink()
        return set()

    def __contains__(self, found: os.stat_result) -> bool:
        return _line(found) in self._lines

    def add(self, found: os.stat_result) -> None:
        """Remembers a file that has its checksum."""
        if found.st_size < SMALLEST or found in self:
            return
        self._lines.add(_line(found))
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            if len(self._lines) > MOST:
                self._lines.clear()
                self._path.unlink(missing_ok=True)
            with self._path.open("a", encoding="ascii") as file:
                file.write(_line(found) + "\n")


def _line(found: os.stat_result) -> str:
    numbers = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    return " ".join(map(str, numbers))
