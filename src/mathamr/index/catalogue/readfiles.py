"""`ReadFiles`: what was read from which files, so that files that did not change need not be read again.

A unit is a file, or all files of a format whose posts depend on each other. It counts as unchanged if every file that was
opened while it was read has the same size, times and inode, or at least the same content, and if nothing else changed on
which its reading depends: the readers themselves, the options, the names of the files around it.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from mathamr.core.sqlite import Database

FILES_SCHEMA = """
CREATE TABLE IF NOT EXISTS files (
    input TEXT NOT NULL, path TEXT NOT NULL, stamp TEXT NOT NULL, hash BLOB NOT NULL,
    PRIMARY KEY (input, path)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS units (
    input TEXT NOT NULL, name TEXT NOT NULL, format TEXT NOT NULL, context TEXT NOT NULL, files TEXT NOT NULL,
    posts BLOB NOT NULL, report TEXT NOT NULL, shared TEXT NOT NULL, PRIMARY KEY (input, name)) WITHOUT ROWID;
"""
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class ReadUnit:
    """One unit as it was read: its format, the files that were opened, the numbers of its posts, what was reported."""

    name: str
    format: str
    context: str
    files: tuple[str, ...]
    posts: tuple[int, ...]
    report: dict[str, Any]
    shared: Any = None
    """What the reading of other files needs to know of it."""


class ReadFiles(Database):
    """The part of a catalogue that knows the files of its inputs."""

    def read_units(self, source: str) -> dict[str, ReadUnit]:
        """Return the units of an input by name."""
        sql = "SELECT name, format, context, files, posts, report, shared FROM units WHERE input = ?"
        return {
            name: ReadUnit(
                name,
                format,
                context,
                tuple(json.loads(files)),
                tuple(array("q", posts)),
                json.loads(report),
                json.loads(shared),
            )
            for name, format, context, files, posts, report, shared in self._rows(sql, (source,))
        }

    def read_files(self, source: str) -> dict[str, tuple[str, bytes]]:
        """Return the stamp and the hash of each file that was opened for an input, by path."""
        sql = "SELECT path, stamp, hash FROM files WHERE input = ?"
        return {path: (stamp, digest) for path, stamp, digest in self._rows(sql, (source,))}

    def were_read(self, source: str, paths: Sequence[str]) -> set[str]:
        """Return those of some paths at which files of an input were read."""
        sql = "SELECT path FROM files WHERE input = ? AND path = ?"
        return {path for path in paths if self._rows(sql, (source, path))}

    def keep_units(self, source: str, units: Iterable[ReadUnit]) -> None:
        """Store units; their posts are stored before."""
        self._db.executemany(
            "INSERT OR REPLACE INTO units VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    source,
                    each.name,
                    each.format,
                    each.context,
                    json.dumps(each.files),
                    array("q", each.posts).tobytes(),
                    json.dumps(each.report),
                    json.dumps(each.shared),
                )
                for each in units
            ),
        )

    def keep_files(self, source: str, files: Iterable[tuple[str, str, bytes]]) -> None:
        """Store path, stamp and hash of files."""
        self._db.executemany(
            "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)", ((source, *each) for each in files)
        )

    def formats(self) -> list[tuple[str, str]]:
        """Return every input with each of the formats of its units."""
        return self._rows("SELECT DISTINCT input, format FROM units")

    def distrust_units(self) -> None:
        """Let all files be read again, without forgetting what they gave."""
        self._db.execute("UPDATE units SET context = ''")

    def forget_units(self, source: str, names: Iterable[str] | None = None) -> None:
        """Forget some units of an input, or all of them with its files: they are read again."""
        if names is None:
            self._db.execute("DELETE FROM units WHERE input = ?", (source,))
            self._db.execute("DELETE FROM files WHERE input = ?", (source,))
        else:
            rows = [(source, name) for name in names]
            self._db.executemany("DELETE FROM units WHERE input = ? AND name = ?", rows)
            self._db.executemany("DELETE FROM files WHERE input = ? AND path = ?", rows)


def stamp_of(path: str | Path) -> str:
    """Return a text that changes with every write to a file, or an empty one if there is no such file."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return ""
    return f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_ino} {found.st_dev}"


def hash_of(path: str | Path) -> bytes:
    """Return a digest of a file's bytes, or nothing if it cannot be read."""
    digest = blake2b(digest_size=16)
    try:
        with Path(path).open("rb") as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
    except (OSError, ValueError):
        return b""
    return digest.digest()
