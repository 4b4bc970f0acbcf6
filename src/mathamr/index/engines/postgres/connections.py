"""`PostgresConnections`: connections to the Postgres server that the environment names; reads are retried, writes are one transaction.

Address and user are read from `MATHAMR_POSTGRES_URL` each time and stored nowhere: no index folder can make us connect to
another server, and no folder, log or error contains a password.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakSet

from mathamr.core.errors import MathAMRError
from mathamr.core.retry import retry
from mathamr.core.settings import POSTGRES_URL
from mathamr.index.engines.engine import ClientLibrary

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[Any]

LIBRARY = ClientLibrary("psycopg", "Postgres", "the Postgres client", 'pip install "mathamr[postgres]"')
DELAYS = (0.1, 0.5, 2.0)
"""Delays in seconds before a read whose connection was lost is retried; restarting a server takes about as long."""
_CONNECTING = 10
"""Seconds after which an attempt to connect fails."""
_WAITING = 30
"""Seconds after which a writer that waits for another one gets an error."""

Result = TypeVar("Result")


class PostgresConnections:
    """The connections of one engine: one for each thread that reads, one for the writer, whose transaction lasts until `commit`."""

    def __init__(self, timeout: int, lock: int) -> None:
        self._timeout, self._lock = timeout, lock
        self._readers = threading.local()
        self._opened: WeakSet[Connection] = WeakSet()
        self._writer: Connection | None = None
        self._writing = threading.RLock()
        self._changed = False
        """True if the writer's transaction has uncommitted changes, which only that transaction can read."""

    def read(self, what: str, work: Callable[[Connection], Result]) -> Result:
        """Call `work` in a transaction that sees one state; retry on another connection if one is lost."""
        if self._changed:
            with self._writing:
                if self._changed:
                    return self._alone(what, work)
        is_lost = False

        def attempt() -> Result:
            nonlocal is_lost
            connection = self._reader(what)
            try:
                with LIBRARY.reporting(what), connection.transaction():
                    return work(connection)
            except BaseException as error:
                is_lost = connection.broken
                if is_lost or not isinstance(error, MathAMRError):
                    _close(connection)
                raise

        return retry(attempt, DELAYS, lambda error: isinstance(error, MathAMRError) and is_lost)

    def write(self, what: str, work: Callable[[Connection], None]) -> None:
        """Call `work` in the writer's transaction; if it fails, its changes are rolled back."""
        is_lost = False

        def attempt() -> None:
            nonlocal is_lost
            is_lost = False
            try:
                with self._begun(what) as connection:
                    work(connection)
            except MathAMRError:
                if self._writer is None or self._writer.broken:
                    self._drop()
                    is_lost = True
                raise

        with self._writing:
            retry(attempt, DELAYS, lambda _: is_lost)
            self._changed = True

    def commit(self, what: str) -> None:
        """Commit the writer's transaction: all of it becomes visible at once and survives a crash."""
        with self._writing:
            if not self._changed or self._writer is None:
                return
            try:
                with LIBRARY.reporting(what):
                    self._writer.commit()
            except MathAMRError as error:
                self._drop(quietly=True)
                raise MathAMRError(
                    f"{error}; the changes since the last flush may or may not have been stored: write them again"
                ) from error
            self._changed = False

    def alone(self, what: str, work: Callable[[Connection], None]) -> None:
        """Call `work` in a transaction of its own, and commit it."""
        with self._writing:
            self.commit(what)
            self.write(what, work)
            self.commit(what)

    def close(self) -> None:
        """Close all connections; uncommitted changes are lost."""
        with self._writing:
            self._drop(quietly=True)
        for connection in self._opened:
            _close(connection)

    @contextmanager
    def _begun(self, what: str) -> Iterator[Connection]:
        """Yield the writer's connection inside its transaction, which other writers wait for."""
        if self._writer is None or self._writer.closed:
            self._drop()
            self._writer = self._connect(what)
        connection = self._writer
        with LIBRARY.reporting(what):
            if not self._changed:
                connection.rollback()
                _take_turn(connection, self._lock, self._timeout)
            with connection.transaction():
                yield connection

    def _alone(self, what: str, work: Callable[[Connection], Result]) -> Result:
        """Read inside the writer's transaction."""
        connection = self._writer
        assert connection is not None
        try:
            with LIBRARY.reporting(what), connection.transaction():
                return work(connection)
        except MathAMRError:
            if connection.broken:
                self._drop()
            raise

    def _drop(self, *, quietly: bool = False) -> None:
        """Close the writer's connection; raise an error if uncommitted writes are lost."""
        lost, self._changed = self._changed, False
        if self._writer is not None:
            _close(self._writer)
            self._writer = None
        if lost and not quietly:
            raise MathAMRError(
                "the connection to Postgres was lost; the changes since the last flush were not stored: write them again"
            )

    def _reader(self, what: str) -> Connection:
        """Return the connection with which this thread reads; after a fork a new one, for it is the parent's."""
        process, connection = getattr(self._readers, "own", (0, None))
        if process != os.getpid() or connection is None or connection.closed:
            from psycopg import IsolationLevel

            connection = self._connect(what)
            connection.autocommit = True
            # Sent with the BEGIN of each transaction, not as a separate request.
            connection.isolation_level, connection.read_only = IsolationLevel.REPEATABLE_READ, True
            self._readers.own = os.getpid(), connection
            self._opened.add(connection)
        own: Connection = connection
        return own

    def _connect(self, what: str) -> Connection:
        return connect(what, self._timeout)


def connect(what: str, timeout: int) -> Connection:
    """Connect to the server that the environment names, with a search path of `pg_catalog` and pgvector's schema."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    url = POSTGRES_URL.value
    if not url:
        raise MathAMRError(
            "no Postgres server is named; set MATHAMR_POSTGRES_URL, like postgresql://user:password@host:5432/database"
        )
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error:
        # psycopg's message contains the URL, and the URL contains the password.
        parts = None
    if parts is None:
        raise MathAMRError(
            "MATHAMR_POSTGRES_URL is not the address of a Postgres server; write it like"
            " postgresql://user:password@host:5432/database"
        )
    parameters: dict[str, Any] = {"connect_timeout": _CONNECTING, "application_name": "mathamr"} | dict(parts)
    parameters["options"] = f"{parameters.get('options') or ''} -c statement_timeout={timeout * 1000}".strip()
    with LIBRARY.reporting(what):
        connection = psycopg.connect(**parameters)
        try:
            row = connection.execute(
                "SELECT quote_ident(n.nspname), e.extversion FROM pg_catalog.pg_extension e"
                " JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"
            ).fetchone()
            if row is not None:
                # A fixed search path, so that no schema of another user can shadow a name.
                connection.execute(
                    "SELECT pg_catalog.set_config('search_path', 'pg_catalog, ' || %s, false)", [row[0]]
                )
            connection.commit()
        except BaseException:
            connection.close()
            raise
    return connection


def _take_turn(connection: Connection, lock: int, timeout: int) -> None:
    """Begin a transaction and wait for other writers of the index, up to a time limit."""
    import psycopg

    try:
        connection.execute(
            "SELECT set_config('lock_timeout', %s, true), set_config('statement_timeout', '0', true)",
            [f"{min(timeout, _WAITING)}s"],
        )
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [lock])
        connection.execute("SELECT set_config('statement_timeout', %s, true)", [f"{timeout}s"])
    except psycopg.errors.LockNotAvailable as error:
        connection.rollback()
        raise MathAMRError(
            "the vectors are being changed by another writer, who has not finished; try again later"
        ) from error


def _close(connection: Connection) -> None:
    with suppress(Exception):
        connection.close()
