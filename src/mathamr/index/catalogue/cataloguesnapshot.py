"""`CatalogueSnapshot`: the catalogue at one moment, for any number of threads, unaffected by later writes."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mathamr.core.sqlite import SqliteConnection
from mathamr.index.catalogue.catalogue import Catalogue


class CatalogueSnapshot(Catalogue):
    """One connection inside one read transaction, which sees one state; threads take turns.

    While it is open, SQLite's write-ahead log grows with every write.
    """

    def __init__(self, path: Path) -> None:
        self._one: SqliteConnection | None = None
        self._turn = threading.RLock()
        super().__init__(path, read_only=True)
        with self._turn:
            self._db.execute("BEGIN")
        self.pinned = super().revision
        """The revision of the snapshot."""

    @property
    def _db(self) -> SqliteConnection:
        with self._turn:
            if self._one is None:
                self._one = self._connected()
                self._connections.append(self._one)
            return self._one

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._turn:
            return super()._rows(sql, values)

    def close(self) -> None:
        """End the transaction and close the connection."""
        with self._turn:
            super().close()
            self._one = None
