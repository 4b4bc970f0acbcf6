"""`Database`: an SQLite file that many threads read while one writes, with errors that say what to do."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mathamr.core.closing import Closing
from mathamr.core.errors import MathAMRError
from mathamr.core.sqlite import connect, in_words

_AT_A_TIME = 500


class Database(Closing):
    """A connection for every thread that asks; what a transaction wrote is on disk when it has ended.

    The file has a table `meta` of notes, among them its format.
    """

    def __init__(self, path: Path, schema: str, format: int, *, create: bool, read_only: bool) -> None:
        self.path, self.read_only = path, read_only
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._guard = threading.Lock()
        with self._errors():
            if create:
                self._db.executescript(schema)
                if self.meta("format") is None:
                    with self.transaction():
                        self.set_meta("format", str(format))
            found = self.meta("format")
        if found != str(format):
            self.close()
            raise MathAMRError(
                f"{path} has format {found}, this version reads {format}; build the index again in another folder"
            )

    @property
    def _db(self) -> sqlite3.Connection:
        """This thread's connection."""
        found: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            found = self._local.connection = self._connected()
            with self._guard:
                self._connections.append(found)
        return found

    def _connected(self) -> sqlite3.Connection:
        connection = connect(self.path, read_only=self.read_only)
        if not self.read_only:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
        return connection

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """SQLite's errors as ours."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise MathAMRError(f"cannot use {self.path}: {in_words(error)}") from error
        except sqlite3.DatabaseError as error:
            raise MathAMRError(
                f"{self.path} is damaged ({error}); see what is lost with: mathamr index --check --out {self.path.parent}"
            ) from error

    def close(self) -> None:
        """Ends all connections; everything acknowledged is on disk already."""
        with self._guard:
            connections, self._connections = self._connections, []
        for connection in connections:
            connection.close()
        self._local = threading.local()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing of what is written inside; on disk when it has ended."""
        with self._errors():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                # After a full disk SQLite may have rolled back already.
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def meta(self, key: str) -> str | None:
        """A note about the whole catalogue."""
        rows = self._rows("SELECT value FROM meta WHERE key = ?", (key,))
        return str(rows[0][0]) if rows else None

    def set_meta(self, key: str, value: str) -> None:
        """Writes a note about the whole catalogue."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def verify(self) -> list[str]:
        """What is wrong with the database itself, in words; nothing when all is well."""
        words = [str(row[0]) for row in self._rows("PRAGMA integrity_check(5)")]
        return [] if words == ["ok"] else words

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._errors():
            return self._db.execute(sql, values).fetchall()

    def _value(self, sql: str) -> Any:
        return self._rows(sql)[0][0]

    def _each(self, sql: str, number: str = "number") -> Iterator[Any]:
        """The rows of a query whose first column is a number and whose condition is open, without that column.

        A page at a time, so that nobody who reads slowly keeps writers' files from being tidied up.
        """
        last = -1
        page = f"{sql} AND {number} > ? ORDER BY {number} LIMIT 2000"
        while rows := self._rows(page, (last,)):
            last = rows[-1][0]
            for row in rows:
                yield row[1:]

    def _chosen(self, sql: str, values: Sequence[Any], order: str = "") -> Iterator[Any]:
        """The rows whose key is among the values, some hundred values at a time."""
        for start in range(0, len(values), _AT_A_TIME):
            few = values[start : start + _AT_A_TIME]
            yield from self._rows(f"{sql}({','.join('?' * len(few))}){order}", few)
