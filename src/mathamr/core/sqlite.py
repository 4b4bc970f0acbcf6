"""Opens SQLite files that may come from somebody else in such a way that nothing in them can run.

A database file may hold triggers, views, virtual tables and computed columns, which run when a row is touched. mathamr
creates none of them, so a file with anything but plain tables and indexes is refused, and so is one whose tables are not
word for word those that mathamr creates. Functions in a schema are not trusted, cells with wrong sizes are detected before
they are read, and no value may be longer than `LONGEST`.
"""

from __future__ import annotations

import os
import re
import sqlite3
import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from mathamr.core.closing import Closing
from mathamr.core.errors import MathAMRError
from mathamr.core.storage.fileversion import FileVersion, file_identity, file_version

MOST_UNPACKED = 512 << 20
"""Bytes to which a compressed cell may unpack unless the caller sets a lower limit."""
LONGEST = 256 << 20
"""Bytes of one value, and of one row; the longest that mathamr writes are posts of 32 MB."""
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: LONGEST,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 1 << 20,
    sqlite3.SQLITE_LIMIT_COLUMN: 100,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
}
"""What a statement or a schema may ask for at most."""
_PLAIN = re.compile(r"CREATE\s+(TABLE|(UNIQUE\s+)?INDEX)\s", re.IGNORECASE)
_BUSY_SECONDS = 30.0
_AT_A_TIME = 500
_DAMAGE = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
_NO_ROOM = ("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHM", "SQLITE_IOERR_TRUNCATE")


def inflated(blob: bytes, limit: int | None = None) -> bytes:
    """Decompress a cell; raise `zlib.error` if it is damaged or exceeds the limit."""
    unpacker = zlib.decompressobj()
    content = unpacker.decompress(blob, MOST_UNPACKED if limit is None else limit)
    if not unpacker.eof:
        raise zlib.error("it is cut short" if not unpacker.unconsumed_tail else "it unpacks to too much")
    return content


class DamagedDatabaseError(MathAMRError):
    """Raised if the content of a database cannot be read."""


@contextmanager
def _translated(connection: sqlite3.Connection) -> Iterator[None]:
    """Turn SQLite's errors into ours: temporary ones (no room, no permission, busy) and damage.

    Python cannot decode some messages about a damaged schema, so a `UnicodeDecodeError` means damage, too.
    """
    path, remedy = getattr(connection, "path", ""), getattr(connection, "remedy", "")
    try:
        yield
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        if getattr(connection, "was_overwritten", False):
            raise MathAMRError(f"{path} was changed while it was read; try again") from error
        if not isinstance(error, sqlite3.OperationalError) or getattr(
            error, "sqlite_errorname", ""
        ).startswith(_DAMAGE):
            raise DamagedDatabaseError(f"{path} is damaged ({error}){remedy}") from error
        raise MathAMRError(f"cannot use {path}: {_explained(error)}") from error


def _explained(error: sqlite3.Error) -> str:
    """Return SQLite's message; explain a full disk in words."""
    if getattr(error, "sqlite_errorname", "").startswith(_NO_ROOM):
        return f"the disk or a quota is full ({error}); make room and try again, nothing of it was changed"
    return str(error)


class CheckedCursor(sqlite3.Cursor):
    """A cursor that raises `MathAMRError`."""

    def execute(self, sql: str, *values: Any) -> Self:
        """Run a statement."""
        with _translated(self.connection):
            return super().execute(sql, *values)

    def executemany(self, sql: str, values: Any) -> Self:
        """Run a statement for each row of values."""
        with _translated(self.connection):
            return super().executemany(sql, values)

    def __next__(self) -> Any:
        with _translated(self.connection):
            return super().__next__()

    def fetchone(self) -> Any:
        """Return the next row."""
        with _translated(self.connection):
            return super().fetchone()

    def fetchall(self) -> list[Any]:
        """Return all remaining rows."""
        with _translated(self.connection):
            return super().fetchall()


class SqliteConnection(sqlite3.Connection):
    """A connection that raises `MathAMRError`, with the file's name and a remedy for damage."""

    path: Path
    remedy: str = ""
    alone: FileVersion | None = None
    """The version of the file if it was opened as one that nobody writes, since this process cannot see writers; else `None`."""

    @property
    def was_overtaken(self) -> bool:
        """True if it was opened as a file that nobody writes, and somebody has begun to write it since."""
        return self.alone is not None and (_log_of(self.path).exists() or self.was_overwritten)

    @property
    def was_overwritten(self) -> bool:
        """True if it was opened as a file that nobody writes, and holds something else now: what was read is in doubt."""
        return self.alone is not None and file_version(self.path) != self.alone

    def execute(self, sql: str, *values: Any) -> CheckedCursor:
        """Run a statement."""
        return self.cursor(CheckedCursor).execute(sql, *values)

    def executemany(self, sql: str, values: Any) -> CheckedCursor:
        """Run a statement for each row of values."""
        return self.cursor(CheckedCursor).executemany(sql, values)

    def executescript(self, script: str) -> sqlite3.Cursor:
        """Run several statements."""
        with _translated(self):
            return super().executescript(script)


def connect(path: Path, *, read_only: bool = False, remedy: str = "") -> SqliteConnection:
    """Return a connection that any thread may use; each statement is its own transaction unless one is begun.

    `remedy` ends the message of a `DamagedDatabaseError` and says what to do.
    """
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise MathAMRError(f"{path} is a link or not a file; put the database itself there")
    place = (path.parent.resolve() / path.name).as_uri()
    if not read_only:
        return _opened(path, place, remedy)
    place += "?mode=ro"
    if (alone := _version_without_writers(path)) is not None:
        connection = _opened(path, place + "&immutable=1", remedy)
        connection.alone = alone
        return connection
    try:
        return _opened(path, place, remedy)
    except MathAMRError as error:
        if not getattr(error.__cause__, "sqlite_errorname", "").startswith(_NO_ROOM):
            raise
        # On a full disk one of these files has no room either; a reader can use memory of its own instead.
        return _opened(path, place + "&readonly_shm=1", remedy)


def _version_without_writers(path: Path) -> FileVersion | None:
    """Return the version of a file that this process can read only as it is; `None` if it can be read beside writers.

    In a folder that it may not write, SQLite cannot create the files that it shares with writers; the first writer creates them.
    """
    version = file_version(path)
    return None if os.access(path.parent, os.W_OK) or _log_of(path).exists() else version


def _log_of(path: Path) -> Path:
    """Return where SQLite keeps what is not in the file yet, while the file is open for writing."""
    return path.with_name(path.name + "-wal")


def _opened(path: Path, place: str, remedy: str) -> SqliteConnection:
    try:
        connection = sqlite3.connect(
            place,
            uri=True,
            isolation_level=None,
            timeout=_BUSY_SECONDS,
            check_same_thread=False,
            factory=SqliteConnection,
        )
    except sqlite3.Error as error:
        raise DamagedDatabaseError(f"{path} cannot be read ({error}){remedy}") from error
    connection.path, connection.remedy = path, remedy
    for limit, most in _LIMITS.items():
        connection.setlimit(limit, most)
    try:
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.execute("PRAGMA cell_size_check=ON")
        rows = connection.execute("SELECT type, name, rootpage, sql FROM sqlite_master").fetchall()
    except BaseException:
        connection.close()
        raise
    for kind, name, page, sql in rows:
        is_plain = sql is None if str(name).startswith("sqlite_autoindex_") else _PLAIN.match(str(sql))
        if kind not in ("table", "index") or not page or not is_plain:
            connection.close()
            raise MathAMRError(
                f"{path} has {str(name)[:80]!r}, which runs when the file is used; mathamr creates nothing of the kind,"
                " so the file is not opened: ask the person who gave it to you"
            )
    return connection


def foreign_parts(connection: SqliteConnection, schema: str) -> list[str]:
    """Return the names of tables and indexes that are not exactly those which a schema creates.

    A table with the right columns may still compute one of them (`AS (zeroblob(999000000))`) or check it at length.
    """
    own = _statements(schema)
    rows = connection.execute("SELECT name, tbl_name, sql FROM sqlite_master").fetchall()
    return sorted(str(name) for name, *row in rows if own.get(str(name)) != _plain(*row))


@lru_cache(maxsize=16)
def _statements(schema: str) -> dict[str, tuple[str, str]]:
    """Return the tables and indexes of a schema by name, as SQLite stores them."""
    with closing(sqlite3.connect(":memory:")) as scratch:
        scratch.executescript(schema)
        rows = scratch.execute("SELECT name, tbl_name, sql FROM sqlite_master").fetchall()
    return {name: _plain(*row) for name, *row in rows}


def _plain(table: object, sql: object) -> tuple[str, str]:
    """Return the table that a part of a schema belongs to, and its SQL with whitespace normalised."""
    return str(table), " ".join(str(sql).split())


def check_schema(connection: SqliteConnection, schema: str) -> None:
    """Raise an error if a file has anything that this schema does not create."""
    if foreign := foreign_parts(connection, schema):
        raise DamagedDatabaseError(
            f"{connection.path} is damaged, or somebody else made it: {foreign[0][:80]!r} is not as mathamr creates it"
            f"{connection.remedy}"
        )


class Database(Closing):
    """A file that many threads read while one writes; a finished transaction is on disk.

    The file has a table `meta` of notes, among them its format.
    """

    def __init__(self, path: Path, schema: str, format: int, *, create: bool, read_only: bool) -> None:
        self.path, self.read_only = path, read_only
        self.identity = file_identity(path)
        """Which file it is: another one may take its place while it is open."""
        self._local = threading.local()
        self._connections: list[SqliteConnection] = []
        self._guard = threading.Lock()
        try:
            foreign = foreign_parts(self._db, schema)
            if create and not foreign:
                self._db.executescript(schema)
                if self.meta("format") is None:
                    with self.transaction():
                        self.set_meta("format", str(format))
            if "meta" not in foreign and (found := self.meta("format")) != str(format):
                raise MathAMRError(
                    f"{path} was written by another version of mathamr (format {found}, this version reads {format});"
                    " build the index again in a new folder"
                )
            check_schema(self._db, schema)
            if not (create or read_only):
                self._db.executescript(schema)  # adds tables that this format has got since
        except BaseException:
            self.close()
            raise

    @property
    def _db(self) -> SqliteConnection:
        """This thread's connection."""
        found: SqliteConnection | None = getattr(self._local, "connection", None)
        if found is not None and found.was_overtaken:
            with self._guard:
                if found in self._connections:
                    self._connections.remove(found)
            found.close()
            found = None
        if found is None:
            found = self._local.connection = self._connected()
            with self._guard:
                self._connections.append(found)
        return found

    def _connected(self) -> SqliteConnection:
        remedy = f"; see what is lost with: mathamr index --check --out {self.path.parent}"
        connection = connect(self.path, read_only=self.read_only, remedy=remedy)
        if not self.read_only:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
        return connection

    def close(self) -> None:
        """End all connections; everything acknowledged is on disk already."""
        with self._guard:
            connections, self._connections = self._connections, []
        for connection in connections:
            connection.close()
        self._local = threading.local()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit everything that the block writes, or nothing of it; the changes are on disk when the block ends."""
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
        """Return a note about the whole file."""
        rows = self._rows("SELECT value FROM meta WHERE key = ?", (key,))
        return str(rows[0][0]) if rows else None

    def set_meta(self, key: str, value: str) -> None:
        """Write a note about the whole file."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def verify(self) -> list[str]:
        """Return messages about damage to the database itself; empty if it is intact."""
        words = [str(row[0]) for row in self._rows("PRAGMA integrity_check(5)")]
        return [] if words == ["ok"] else words

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        return self._db.execute(sql, values).fetchall()

    def _value(self, sql: str) -> Any:
        return self._rows(sql)[0][0]

    def _each(self, sql: str, number: str = "number") -> Iterator[Any]:
        """Yield the rows of a query, page by page, without their first column. The query must end in a WHERE clause; its
        first column is the number `number`.

        They are read a page at a time, so that a slow reader does not prevent the cleanup of writers' files.
        """
        last = -1
        page = f"{sql} AND {number} > ? ORDER BY {number} LIMIT 2000"
        while rows := self._rows(page, (last,)):
            last = rows[-1][0]
            for row in rows:
                yield row[1:]

    def _chosen(self, sql: str, values: Sequence[Any], order: str = "") -> Iterator[Any]:
        """Yield the rows whose key is among the values, some hundred values at a time."""
        for start in range(0, len(values), _AT_A_TIME):
            few = values[start : start + _AT_A_TIME]
            yield from self._rows(f"{sql}({','.join('?' * len(few))}){order}", few)
