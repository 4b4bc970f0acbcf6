"""A cache of parsed sentences."""

from __future__ import annotations

import hashlib
import logging
import os
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from mathamr.amr.batch import parse_each
from mathamr.amr.graph import Amr, InvalidAmrError
from mathamr.amr.parser import AmrParser, Failure, all_graphs
from mathamr.core.batches import batches
from mathamr.core.errors import MathAMRError
from mathamr.core.settings import CACHE
from mathamr.core.sqlite import DamagedDatabaseError, SqliteConnection, check_schema, connect, inflated
from mathamr.core.storage.cachefolder import HINT, private_file

FILE = "amr.sqlite"
MAX_ENTRIES = 2_000_000
"""About 1.5 GB of short sentences; the oldest entries are deleted first."""
_TABLE = """CREATE TABLE IF NOT EXISTS graphs
    (number INTEGER PRIMARY KEY, key BLOB UNIQUE NOT NULL, graph BLOB NOT NULL)"""
_LOOKUPS = 500  # SQLite's limit on parameters was 999 for a long time
_log = logging.getLogger(__name__)

T = TypeVar("T")


class GraphCache:
    """Graphs by parser and sentence in one SQLite file that any number of processes may share.

    The file may be deleted at any time. A file that cannot be read is renamed with a warning, and if no file can be
    written (a full or read-only disk), parsing continues without a cache.
    """

    def __init__(self, path: Path | None = None, max_entries: int = MAX_ENTRIES) -> None:
        self.path = path or CACHE.path / FILE
        self._is_ours = path is not None
        self.max_entries = max_entries
        self._connection: SqliteConnection | None = None
        self._usable = True

    def get(self, fingerprint: str, sentences: Iterable[str]) -> dict[str, Amr]:
        """Return the graphs of those sentences that the cache holds."""
        keys = {_key(fingerprint, sentence): sentence for sentence in sentences}

        def look(connection: SqliteConnection) -> list[tuple[bytes, bytes]]:
            query = "SELECT key, graph FROM graphs WHERE key IN "
            return [
                row
                for part in batches(keys, _LOOKUPS)
                for row in connection.execute(f"{query}({','.join('?' * len(part))})", part)
            ]

        found: dict[str, Amr] = {}
        for key, graph in self._with_connection(look) or ():
            try:
                found[keys[key]] = Amr.from_json(inflated(graph).decode())
            except (zlib.error, ValueError, TypeError, InvalidAmrError) as error:
                self._set_aside(error)
                return {}
        return found

    def put(self, fingerprint: str, graphs: Mapping[str, Amr]) -> None:
        """Store graphs by their sentences."""
        rows = [
            (_key(fingerprint, sentence), zlib.compress(graph.to_json().encode(), 1))
            for sentence, graph in graphs.items()
        ]

        def store(connection: SqliteConnection) -> None:
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.executemany("INSERT OR IGNORE INTO graphs (key, graph) VALUES (?, ?)", rows)
                # Entries are numbered as they come, so that the oldest are found without counting.
                oldest = "number <= (SELECT max(number) FROM graphs) - ?"
                connection.execute(f"DELETE FROM graphs WHERE {oldest}", (self.max_entries,))

        if rows:
            self._with_connection(store)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _with_connection(self, work: Callable[[SqliteConnection], T]) -> T | None:
        """Return the result of `work`, or None if the file cannot be used; a replaced file is opened again."""
        for _ in range(2):
            if not self._usable:
                return None
            try:
                return work(self._open())
            except DamagedDatabaseError as error:
                self._set_aside(error)
            except (MathAMRError, OSError) as error:
                self.close()
                # A file that was deleted while it was open is made again.
                if getattr(error.__cause__, "sqlite_errorname", "") != "SQLITE_READONLY_DBMOVED":
                    self._give_up(error)
        return None

    def _open(self) -> SqliteConnection:
        if self._connection is None:
            if self._is_ours:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            elif private_file(FILE) is None:
                raise PermissionError(f"the folder cannot be written, or others may write to it; {HINT}")
            self._connection = connect(self.path)
            check_schema(self._connection, _TABLE)
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.execute(_TABLE)
        return self._connection

    def _set_aside(self, error: Exception) -> None:
        """Rename a broken file so that the next use starts a new one; gives up if that fails too."""
        self.close()
        aside = self.path.with_name(f"{self.path.name}.broken-{os.getpid()}")
        try:
            self.path.replace(aside)
            Path(f"{self.path}-journal").unlink(missing_ok=True)
        except OSError as refused:
            self._give_up(refused)
            return
        _log.warning(
            "the AMR cache %s is broken (%s): set aside as %s, starting a new one", self.path, error, aside
        )

    def _give_up(self, error: Exception) -> None:
        self._usable = False
        _log.warning("no AMR cache at %s (%s): sentences are parsed without one", self.path, error)


class CachedParser:
    """Puts a cache in front of another parser; each distinct sentence is parsed once."""

    def __init__(self, parser: AmrParser, cache: GraphCache | None = None) -> None:
        self.parser = parser
        self.cache = cache or GraphCache()

    @property
    def name(self) -> str:
        """The name of the parser behind the cache."""
        return self.parser.name

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the parser behind the cache."""
        return self.parser.fingerprint

    def parse(self, sentences: Sequence[str]) -> list[Amr]:
        """Take graphs from the cache and parses the rest; failures are never stored."""
        known: dict[str, Amr | Failure] = dict(self.cache.get(self.fingerprint, sentences))
        missing = [sentence for sentence in dict.fromkeys(sentences) if sentence not in known]
        results = dict(zip(missing, parse_each(self.parser, missing), strict=True))
        self.cache.put(self.fingerprint, {s: graph for s, graph in results.items() if isinstance(graph, Amr)})
        known |= results
        return all_graphs([known[sentence] for sentence in sentences])


def _key(fingerprint: str, sentence: str) -> bytes:
    text = f"{fingerprint}\0{sentence}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16).digest()
