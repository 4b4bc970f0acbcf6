"""SQLite files that may come from a stranger: opened so that nothing in them can act, only be read.

A database file may hold triggers, views and virtual tables, which run when a row is touched. mathamr makes none of
them, so a file that has any is refused; functions in what is left of a schema are not trusted, and cells whose sizes
lie are found before they are read.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from mathamr.errors import MathAMRError

_ACTING = (
    "SELECT name FROM sqlite_master WHERE type IN ('trigger', 'view') OR sql LIKE 'CREATE VIRTUAL%' LIMIT 1"
)


def connect(path: Path, *, read_only: bool = False, timeout: float = 30) -> sqlite3.Connection:
    """A connection that any thread may use; each statement is its own transaction unless one is begun.

    Raises SQLite's own errors where the file cannot be read, and `MathAMRError` where it is no plain file.
    """
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise MathAMRError(f"{path} is a link or no file; put the database itself there")
    place = (path.parent.resolve() / path.name).as_uri()
    if read_only:
        # On a medium that cannot be written, SQLite cannot make the files beside it that it shares with writers.
        alone = not os.access(path.parent, os.W_OK) and not path.with_name(path.name + "-wal").exists()
        place += "?mode=ro" + ("&immutable=1" if alone else "")
    connection = sqlite3.connect(
        place, uri=True, isolation_level=None, timeout=timeout, check_same_thread=False
    )
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
