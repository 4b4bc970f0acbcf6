"""The engine `postgres`: a PostgreSQL server with pgvector, which teams already run, back up and replicate.

The folder holds no vectors, only `engine.json` with the name of a schema of the database and a random word that is also stored
in the schema: a folder can read and delete only its own schema. All writes until `flush` are one transaction over all tables:
readers on any machine see the state before or after it.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from mathamr.core.errors import MathAMRError
from mathamr.index.engines.engine import Engine, EngineHead, by_kind, check_number, read_options
from mathamr.index.engines.entry import Filter
from mathamr.index.engines.nearestfield import NearestField
from mathamr.index.engines.postgres.connections import LIBRARY, PostgresConnections
from mathamr.index.engines.postgres.table import PostgresTable
from mathamr.systems.field import FieldTarget

if TYPE_CHECKING:
    from mathamr.index.engines.postgres.connections import Connection

PREFIX = "mathamr_"
"""The prefix of schema names; no other schema is created, read or deleted."""
_OLDEST = (0, 8)
"""The first version of pgvector with iterative scans, which continue until enough entries pass a filter."""


@dataclass(frozen=True, slots=True)
class PostgresOptions:
    """How the tables are created and searched. Only the environment names the server."""

    schema: str = ""
    """The schema of the index in the database; by default a new name."""
    word: str = ""
    """The random word that the schema must contain; generated with it."""
    ef: int = 128
    """Number of neighbours that an approximate search follows (the thesis: 128)."""
    timeout: int = 600
    """Time limit of a statement in seconds."""

    def __post_init__(self) -> None:
        check_number("postgres engine", "ef", self.ef, 1000)
        check_number("postgres engine", "timeout", self.timeout, 86_400)
        rest = self.schema.removeprefix(PREFIX)
        if self.schema and not (
            self.schema.startswith(PREFIX)
            and 1 <= len(rest) <= 48
            and rest.isascii()
            and rest.replace("_", "a").isalnum()
        ):
            raise MathAMRError(
                f"the postgres engine's schema is {PREFIX} and up to 48 letters, digits and _, not {self.schema[:80]!r}"
            )


class PostgresEngine(Engine):
    """A table of a schema for every kind of entry; see `Engine`."""

    name: ClassVar[str] = "postgres"
    remote = True
    library = LIBRARY
    _options: PostgresOptions
    _connections: PostgresConnections
    _read_only: bool

    @classmethod
    def choose_options(cls, options: Mapping[str, Any] | None) -> PostgresOptions:
        """Return the options with the name of a new schema."""
        chosen, word = read_options(PostgresOptions, cls.name, options), uuid.uuid4().hex
        return replace(chosen, schema=chosen.schema or f"{PREFIX}{word[:12]}", word=word)

    @classmethod
    def open(cls, folder: Path, *, read_only: bool = False, is_new: bool = False) -> Self:
        """Return the schema that a folder names, at the server that the environment names."""
        head = EngineHead.read(folder, cls.name)
        options = read_options(PostgresOptions, cls.name, head.options)
        if not options.schema or not options.word:
            raise MathAMRError(f"{folder} names no schema of Postgres; build the index again")
        lock = int.from_bytes(blake2b(options.schema.encode(), digest_size=8).digest(), signed=True)
        connections = PostgresConnections(options.timeout, lock)
        stores = {
            of: PostgresTable(of, own, connections, options.schema, ef=options.ef, writable=not read_only)
            for of, own in by_kind(head.fields).items()
        }
        readers = {each.name: NearestField(each, stores[each.of]) for each in head.fields}
        engine = cls(folder, head.fields, stores, readers)
        engine._options, engine._connections, engine._read_only = options, connections, read_only
        try:
            if is_new:
                connections.alone("make the schema", engine._make)
            else:
                connections.read("open the schema", engine._find)
        except BaseException:
            connections.close()
            raise
        return engine

    def _fields(self) -> str:
        return json.dumps([field.to_json() for field in self.fields], sort_keys=True)

    def _make(self, connection: Connection) -> None:
        """Create the schema and its tables in one transaction."""
        from psycopg import errors, sql

        schema = sql.Identifier(self._options.schema)
        if _vector_version(connection) is None:
            try:
                connection.execute("CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public")
            except errors.Error as error:
                raise MathAMRError(
                    "the Postgres database has no pgvector, and it could not be added"
                    f" ({str(error).splitlines()[0]}); install it and say CREATE EXTENSION vector"
                ) from error
            connection.execute("SELECT set_config('search_path', 'pg_catalog, public', false)")
        version = _vector_version(connection)
        if version is None or version < _OLDEST:
            raise MathAMRError(
                f"the database's pgvector is {'.'.join(map(str, version or ()))}; 0.8 at least is needed"
            )
        try:
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(schema))
        except errors.DuplicateSchema as error:
            raise MathAMRError(
                f"the database has a schema {self._options.schema} already; choose another name"
            ) from error
        about = sql.Identifier(self._options.schema, "about")
        connection.execute(
            sql.SQL("CREATE TABLE {} (word text NOT NULL, fields text NOT NULL)").format(about)
        )
        connection.execute(
            sql.SQL("INSERT INTO {} VALUES (%s, %s)").format(about), [self._options.word, self._fields()]
        )
        for table in self.stores.values():
            table.create(connection)

    def _find(self, connection: Connection) -> None:
        """Raise an error if the schema is missing or belongs to another index."""
        from psycopg import errors, sql

        schema = self._options.schema
        try:
            row = connection.execute(
                sql.SQL("SELECT word, fields FROM {}").format(sql.Identifier(schema, "about"))
            ).fetchone()
        except errors.UndefinedTable as error:
            raise MathAMRError(
                f"the Postgres database has no schema {schema}; build the index again"
            ) from error
        if row is None or row[0] != self._options.word:
            raise MathAMRError(
                f"the schema {schema} of the Postgres database is another index's; build this one again"
            )
        if row[1] != self._fields():
            raise MathAMRError(
                f"the schema {schema} has other fields than {self.folder}; build the index again"
            )

    def passing(self, of: FieldTarget, where: Filter) -> Iterator[str]:
        """Yield the ids of the entries that pass a filter, which the server selects."""
        return iter(self.stores[of].ids(where=where) if of in self.stores else ())

    def flush(self) -> None:
        """Commit all writes, which become visible to everybody at once."""
        self._connections.commit("write what was stored")

    def optimize(self) -> None:
        """Build the indexes of filters and the graphs of approximate search."""
        if self._read_only:
            return

        def build(connection: Connection) -> None:
            connection.execute("SELECT set_config('statement_timeout', '0', true)")
            for table in self.stores.values():
                table.index(connection)

        self._connections.alone("build indexes", build)

    def close(self) -> None:
        """Commit and end the connections."""
        try:
            self.flush()
        finally:
            self._connections.close()


def _vector_version(connection: Connection) -> tuple[int, ...] | None:
    row = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
    return None if row is None else tuple(int(part) for part in row[0].split(".") if part.isdigit())
