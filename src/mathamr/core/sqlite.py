"""SQLite files that may come from a stranger: opened so that nothing in them can act, only be read.

A database file may hold triggers, views and virtual tables, which run when a row is touched. mathamr makes none of
them, so a file that has any is refused; functions in what is left of a schema are not trusted, and cells whose sizes
lie are found before they are read.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from mathamr.core.errors import MathAMRError

_ACTING = (
    "SELECT name FROM sqlite_master WHERE type IN ('trigger', 'view') OR sql LIKE 'CREATE VIRTUAL%' LIMIT 1"
)


MOST_UNPACKED = 512 << 20


def inflated(blob: bytes) -> bytes:
    """What zlib packed into a row, as far as any post or graph goes: a row may have been made to unpack to gigabytes."""
    unpacker = zlib.decompressobj()
    content = unpacker.decompress(blob, MOST_UNPACKED)
    if not unpacker.eof:
        raise zlib.error("it is cut short" if not unpacker.unconsumed_tail else "it unpacks to too much")
    return content


class DamagedDatabaseError(MathAMRError):
    """A database whose content cannot be read."""


class ToldCursor(sqlite3.Cursor):
    """A cursor whose errors are ours."""

    def execute(self, sql: str, *values: Any) -> Self:
        """Runs a statement."""
        with told(self.connection):
            return super().execute(sql, *values)

    def executemany(self, sql: str, values: Any) -> Self:
        """Runs a statement for each row of values."""
        with told(self.connection):
            return super().executemany(sql, values)

    def __next__(self) -> Any:
        with told(self.connection):
            return super().__next__()

    def fetchone(self) -> Any:
        """The next row."""
        with told(self.connection):
            return super().fetchone()

    def fetchall(self) -> list[Any]:
        """All rows that are left."""
        with told(self.connection):
            return super().fetchall()


class ToldConnection(sqlite3.Connection):
    """A connection whose errors are ours: they name the file and what to do."""

    path: Path
    remedy: str = ""

    def execute(self, sql: str, *values: Any) -> ToldCursor:
        """Runs a statement."""
        return self.cursor(ToldCursor).execute(sql, *values)

    def executemany(self, sql: str, values: Any) -> ToldCursor:
        """Runs a statement for each row of values."""
        return self.cursor(ToldCursor).executemany(sql, values)


@contextmanager
def told(connection: sqlite3.Connection) -> Iterator[None]:
    """SQLite's errors as ours: those of the moment (no room, no permission, busy), and those of damage."""
    path, remedy = getattr(connection, "path", ""), getattr(connection, "remedy", "")
    try:
        yield
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorname", "").startswith(_DAMAGE):
            raise DamagedDatabaseError(f"{path} is damaged ({error}){remedy}") from error
        raise MathAMRError(f"cannot use {path}: {in_words(error)}") from error
    except sqlite3.DatabaseError as error:
        raise DamagedDatabaseError(f"{path} is damaged ({error}){remedy}") from error


_DAMAGE = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
_NO_ROOM = ("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHM", "SQLITE_IOERR_TRUNCATE")


def in_words(error: sqlite3.Error) -> str:
    """What SQLite says, and what it means where it speaks of a disk without room as of any other trouble with it."""
    if getattr(error, "sqlite_errorname", "").startswith(_NO_ROOM):
        return (
            f"the disk is full, or a quota is ({error}); make room and try again, nothing of it was changed"
        )
    return str(error)


def told_connection(path: Path, *, read_only: bool = False, remedy: str = "") -> ToldConnection:
    """As `connect`, with errors of ours; `remedy` is what to do about damage."""
    try:
        connection = connect(path, read_only=read_only, factory=ToldConnection)
    except sqlite3.OperationalError as error:
        if not getattr(error, "sqlite_errorname", "").startswith(_NO_ROOM):
            raise DamagedDatabaseError(f"{path} cannot be read ({error}){remedy}") from error
        raise MathAMRError(f"cannot use {path}: {in_words(error)}") from error
    except sqlite3.DatabaseError as error:
        raise DamagedDatabaseError(f"{path} cannot be read ({error}){remedy}") from error
    assert isinstance(connection, ToldConnection)
    connection.path, connection.remedy = path, remedy
    return connection


def connect(
    path: Path,
    *,
    read_only: bool = False,
    timeout: float = 30,
    factory: type[sqlite3.Connection] = sqlite3.Connection,
) -> sqlite3.Connection:
    """A connection that any thread may use; each statement is its own transaction unless one is begun.

    Raises SQLite's own errors where the file cannot be read, and `MathAMRError` where it is no plain file.
    """
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise MathAMRError(f"{path} is a link or no file; put the database itself there")
    place = (path.parent.resolve() / path.name).as_uri()
    if not read_only:
        return _opened(path, place, timeout, factory)
    # On a medium that cannot be written, SQLite cannot make the files beside it that it shares with writers.
    alone = not os.access(path.parent, os.W_OK) and not path.with_name(path.name + "-wal").exists()
    place += "?mode=ro" + ("&immutable=1" if alone else "")
    try:
        return _opened(path, place, timeout, factory)
    except (sqlite3.OperationalError, MathAMRError) as error:
        cause = error if isinstance(error, sqlite3.Error) else error.__cause__
        if not getattr(cause, "sqlite_errorname", "").startswith(_NO_ROOM):
            raise
        # On a full disk one of these files has no room, either; a reader can do with memory of its own instead.
        return _opened(path, place + "&readonly_shm=1", timeout, factory)


def _opened(path: Path, place: str, timeout: float, factory: type[sqlite3.Connection]) -> sqlite3.Connection:
    connection = sqlite3.connect(
        place, uri=True, isolation_level=None, timeout=timeout, check_same_thread=False, factory=factory
    )
    if isinstance(connection, ToldConnection):
        connection.path = path
    try:
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.execute("PRAGMA cell_size_check=ON")
        found = connection.execute(_ACTING).fetchone()
    except BaseException:
        connection.close()
        raise
    if found is not None:
        connection.close()
        raise MathAMRError(
            f"{path} has {str(found[0])[:80]!r}, which runs when the file is used; mathamr makes nothing of the kind,"
            " so the file is not used: ask whoever gave it to you"
        )
    return connection
