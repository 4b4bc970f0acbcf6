"""`KeptPosts`: the posts that stay although their file can no longer be read, each with the day as of which it is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import date

from mathamr.core.sqlite import Database

KEPT_SCHEMA = """
CREATE TABLE IF NOT EXISTS kept (post INTEGER PRIMARY KEY, since TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS unread (
    input TEXT NOT NULL, path TEXT NOT NULL, stamp TEXT NOT NULL, PRIMARY KEY (input, path)) WITHOUT ROWID;
"""


UNKNOWN = "1970-01-01"
"""Stands for a day that is not one, in a damaged index."""


class KeptPosts(Database):
    """The part of a catalogue that knows which posts are older than their files."""

    def kept_since(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the day (as 2026-03-03) as of which those of some posts are that were kept."""
        if not self._has_kept:
            return {}
        sql = "SELECT p.id, since FROM kept k JOIN posts p ON p.number = k.post WHERE p.deleted = 0 AND p.id IN "
        return {post_id: _valid_day(since) for post_id, since in self._chosen(sql, ids)}

    def count_kept(self) -> int:
        """Return the number of posts that were kept."""
        if not self._has_kept:
            return 0
        sql = "SELECT count(*) FROM kept k JOIN posts p ON p.number = k.post WHERE p.deleted = 0"
        return int(self._value(sql))

    def keep(self, source: str, numbers: Collection[int], day: str) -> bool:
        """Record which posts of an input are kept, those that are new among them as of this day; return True if others were before."""
        sql = "SELECT post FROM kept WHERE post IN (SELECT number FROM posts WHERE input = ?)"
        before = {number for (number,) in self._rows(sql, (source,))}
        self._db.executemany("DELETE FROM kept WHERE post = ?", ((each,) for each in before - {*numbers}))
        self._db.executemany(
            "INSERT OR IGNORE INTO kept VALUES (?, ?)", ((each, day) for each in sorted(numbers))
        )
        return before != {*numbers}

    def keep_unread(self, source: str, stamps: Mapping[str, str]) -> None:
        """Record which files of an input could not be read whole, each with its stamp then."""
        self._db.execute("DELETE FROM unread WHERE input = ?", (source,))
        self._db.executemany(
            "INSERT INTO unread VALUES (?, ?, ?)", ((source, path, stamp) for path, stamp in stamps.items())
        )

    def unread_files(self, source: str) -> dict[str, str]:
        """Return the files of an input whose posts are kept because they could not be read whole, with their stamps then."""
        if not self._has_kept:
            return {}
        return dict(self._rows("SELECT path, stamp FROM unread WHERE input = ?", (source,)))

    @property
    def _has_kept(self) -> bool:
        """False for a catalogue of an older version that was opened for reading."""
        return bool(self._rows("SELECT 1 FROM sqlite_master WHERE name = 'unread'"))


def _valid_day(since: object) -> str:
    with suppress(ValueError):
        return date.fromisoformat(str(since)).isoformat()
    return UNKNOWN
