"""`PostgresTable`: the entries of one kind in a table: payloads in columns, and one column per field of vectors.

A field of one row is a `vector`, which the server compares. The rows of a field of many are bytes of float32, which are compared
here: MaxSim needs all of them, and the server has no function for it.
Graphs (HNSW) are built over half precision, also for a field of one row, whose exact scores come from the column itself.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from mathamr.core.arrays import FloatArray, IntArray
from mathamr.core.batches import batches
from mathamr.core.errors import MathAMRError
from mathamr.index.engines.engine import check_writable
from mathamr.index.engines.entry import Entry, Filter, Payload, checked
from mathamr.index.engines.maxsim import similarities
from mathamr.index.engines.postgres.connections import PostgresConnections
from mathamr.systems.field import Field, FieldTarget
from mathamr.systems.vectors import Vectors

if TYPE_CHECKING:
    from psycopg import sql

    from mathamr.index.engines.postgres.connections import Connection


def know_vectors(connection: Connection) -> None:
    """Let a connection copy arrays of float32 into pgvector's type, in its binary form."""
    import psycopg
    from psycopg.types import TypeInfo

    class VectorDumper(psycopg.adapt.Dumper):
        format = psycopg.pq.Format.BINARY

        def dump(self, obj: FloatArray) -> bytes:
            return struct.pack(">hh", len(obj), 0) + obj.astype(">f4").tobytes()

    found = TypeInfo.fetch(connection, "vector")
    assert found is not None
    found.register(connection)
    VectorDumper.oid = found.oid
    connection.adapters.register_dumper(np.ndarray, VectorDumper)


def floats(cell: bytes, size: int) -> FloatArray:
    """Return the rows of float32 in a cell of the type bytea."""
    return np.frombuffer(cell, "<f4").reshape(-1, size).astype(np.float32, copy=False)


def having(field: Field | None) -> sql.Composable:
    """Return the condition that an entry has a field."""
    from psycopg import sql

    if field is None:
        return sql.SQL("true")
    return sql.SQL("{} IS NOT NULL").format(sql.Identifier(f"v_{field.name}"))


def texts(words: Iterable[str]) -> list[str]:
    """Return words of a filter without the character 0, which Postgres takes in no text."""
    return [word.replace("\0", "\ufffd") for word in words]


def conditions_of(where: Filter | None) -> tuple[list[sql.Composable], list[Any]]:
    """Return a filter in SQL, and the values in it."""
    from psycopg import sql

    if not where:
        return [], []
    after, before = where.times
    conditions: list[tuple[str, Any]] = []
    if where.kinds:
        conditions.append(("kind = ANY(%s)", texts(where.kinds)))
    if where.tags:
        conditions.append(("tags @> %s::text[]", texts(where.tags)))
    if where.sources:
        conditions.append(("source = ANY(%s)", texts(where.sources)))
    if after is not None:
        conditions.append(("time >= %s", after))
    if before is not None:
        conditions.append(("time < %s", before))
    if where.minimum_score is not None:
        conditions.append(("score >= %s", where.minimum_score))
    return [sql.SQL(condition) for condition, _ in conditions], [value for _, value in conditions]


def shown(numbers: FloatArray) -> str:
    """Return a vector as pgvector reads it."""
    return "[" + ",".join(f"{number:.9g}" for number in numbers.tolist()) + "]"


LARGEST = 16_000
"""The largest dimension of a pgvector `vector`."""
LARGEST_GRAPHED = 4000
"""The largest dimension over which pgvector builds a graph of half precision."""
BATCH = 2048
"""Number of entries that are sent at a time."""
_MOST_EF = 1000
"""The largest `ef_search` of pgvector; beyond it the scan continues by itself (`iterative_scan`)."""
_COLUMNS = {
    "key": "bytea PRIMARY KEY",
    "id": "text NOT NULL",
    "kind": "text NOT NULL",
    "tags": "text[] NOT NULL",
    "date": "text",
    "time": "double precision",
    "score": "bigint",
    "source": "text NOT NULL",
    "post": "text NOT NULL",
    "visual": "text NOT NULL",
}
_INDEXES = {"kind": "btree", "source": "btree", "time": "btree", "score": "btree", "tags": "gin"}


def key(identifier: str) -> bytes:
    """Return the key of a row, a hash, since an id may be longer than an index of Postgres allows."""
    return blake2b(identifier.encode(), digest_size=16).digest()


class PostgresTable:
    """One table; see `NearestField`."""

    def __init__(
        self,
        of: FieldTarget,
        fields: tuple[Field, ...],
        connections: PostgresConnections,
        schema: str,
        *,
        ef: int,
        writable: bool,
    ) -> None:
        from psycopg import sql

        for field in fields:
            if field.size > LARGEST and not field.many:
                raise MathAMRError(
                    f"the field {field.name!r} has vectors of {field.size:,} numbers; Postgres takes {LARGEST:,}"
                )
        self.of, self.fields, self._connections, self.writable = of, fields, connections, writable
        self._ef, self._schema = ef, schema
        self.name = sql.Identifier(schema, of)

    def _types(self) -> Iterator[tuple[str, str]]:
        """Yield the columns and their types, in order."""
        yield from _COLUMNS.items()
        for field in self.fields:
            yield f"v_{field.name}", "bytea" if field.many else f"vector({field.size})"
            yield f"l_{field.name}", "bytea"
            yield f"r_{field.name}", "text[]"

    def create(self, connection: Connection) -> None:
        """Make the table."""
        from psycopg import sql

        columns = [
            sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(kind)) for name, kind in self._types()
        ]
        connection.execute(sql.SQL("CREATE TABLE {} ({})").format(self.name, sql.SQL(", ").join(columns)))
        for field in self.fields:
            if field.many:
                # Vectors hardly compress, and trying would take most of the loading time.
                connection.execute(
                    sql.SQL("ALTER TABLE {} ALTER COLUMN {} SET STORAGE EXTERNAL").format(
                        self.name, sql.Identifier(f"v_{field.name}")
                    )
                )

    def index(self, connection: Connection) -> None:
        """Build missing indexes for filters and approximate searches; later writes update them."""
        from psycopg import sql

        for column, method in _INDEXES.items():
            connection.execute(
                sql.SQL("CREATE INDEX IF NOT EXISTS {} ON {} USING {} ({})").format(
                    sql.Identifier(f"{self.of}_{column}"), self.name, sql.SQL(method), sql.Identifier(column)
                )
            )
        for field in self.fields:
            graphed = self._graphed(field)
            if graphed is not None:
                connection.execute(
                    sql.SQL("CREATE INDEX IF NOT EXISTS {} ON {} USING hnsw ({} halfvec_ip_ops)").format(
                        sql.Identifier(f"{self.of}_g_{field.name}"), self.name, graphed
                    )
                )
        connection.execute(sql.SQL("ANALYZE {}").format(self.name))

    def _graphed(self, field: Field) -> sql.Composable | None:
        """Return the SQL expression over which a field's graph is built, as searches must write it; None if there is no graph."""
        from psycopg import sql

        if field.many or field.size > LARGEST_GRAPHED:
            return None
        return sql.SQL("({}::halfvec({}))").format(
            sql.Identifier(f"v_{field.name}"), sql.SQL(str(field.size))
        )

    def upsert(self, entries: Iterable[Entry]) -> None:
        """Add or replace entries."""
        check_writable(self)
        accepted = list({entry.id: entry for entry in checked(entries, self.fields)}.values())
        if accepted:
            self._connections.write(f"store {self.of}", lambda connection: self._put(connection, accepted))

    def _put(self, connection: Connection, entries: Sequence[Entry]) -> None:
        from psycopg import sql

        types = dict(self._types())
        names = sql.SQL(", ").join(map(sql.Identifier, types))
        copy = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(self.name, names)
        know_vectors(connection)
        for batch in batches(entries, BATCH):
            self._forget(connection, [entry.id for entry in batch])
            with connection.cursor().copy(copy) as rows:
                rows.set_types([re.sub(r"[( ](?!precision).*", "", kind) for kind in types.values()])
                for entry in batch:
                    rows.write_row(list(self._cells(entry)))

    def _cells(self, entry: Entry) -> Iterator[Any]:
        """Yield the cells of an entry, in the order of the columns."""
        about = entry.payload
        yield key(entry.id)
        yield from (entry.id, about.kind, list(about.tags), about.date, about.time, about.score)
        yield from (about.source, about.post, about.visual)
        for field in self.fields:
            rows = entry.rows.get(field.name)
            if rows is None:
                yield from (None, None, None)
            else:
                yield rows.vectors.astype("<f4", copy=False).tobytes() if field.many else rows.vectors[0]
                yield rows.levels.astype(np.int8).tobytes()
                yield list(rows.references)

    def delete(self, ids: Iterable[str]) -> None:
        """Delete entries."""
        check_writable(self)
        gone = list(ids)
        if gone:
            self._connections.write(f"delete {self.of}", lambda connection: self._forget(connection, gone))

    def _forget(self, connection: Connection, ids: Sequence[str]) -> None:
        from psycopg import sql

        connection.execute(
            sql.SQL("DELETE FROM {} WHERE key = ANY(%s)").format(self.name), [list(map(key, ids))]
        )

    def count(self, field: Field | None = None) -> int:
        """Return the number of entries, or of those that have a field."""
        from psycopg import sql

        query_sql = sql.SQL("SELECT count(*) FROM {} WHERE {}").format(self.name, having(field))
        return int(self._rows("count", query_sql, [])[0][0])

    def ids(self, field: Field | None = None, where: Filter | None = None) -> Iterator[str]:
        """Yield the ids of all entries, or of those that have a field or pass a filter."""
        from psycopg import sql

        conditions, values = conditions_of(where)
        query_sql = sql.SQL("SELECT key, id FROM {} WHERE key > %s AND {} ORDER BY key LIMIT {}").format(
            self.name, sql.SQL(" AND ").join([having(field), *conditions]), sql.SQL(str(2 * BATCH))
        )
        last = b""
        while rows := self._rows("list", query_sql, [last, *values]):
            yield from (row[1] for row in rows)
            last = bytes(rows[-1][0])

    def payloads(self, ids: Sequence[str]) -> dict[str, Payload]:
        """Return the payloads of entries."""
        from psycopg import sql

        query_sql = sql.SQL(
            "SELECT id, kind, tags, date, score, source, post, visual FROM {} WHERE key = ANY(%s)"
        ).format(self.name)
        found = {}
        for batch in batches(dict.fromkeys(ids), BATCH):
            for name, kind, tags, *rest in self._rows("read", query_sql, [list(map(key, batch))]):
                found[name] = Payload(kind, tuple(tags), *rest)
        return found

    def fetch(self, ids: Sequence[str], field: Field) -> dict[str, Vectors]:
        """Return the rows of entries in a field."""
        from psycopg import sql

        column = sql.Identifier(f"v_{field.name}")
        query_sql = sql.SQL("SELECT id, {}, {}, {} FROM {} WHERE key = ANY(%s) AND {}").format(
            column if field.many else sql.SQL("{}::real[]").format(column),
            sql.Identifier(f"l_{field.name}"),
            sql.Identifier(f"r_{field.name}"),
            self.name,
            having(field),
        )
        found = {}
        for batch in batches(dict.fromkeys(ids), BATCH):
            for name, vectors, levels, references in self._rows("read", query_sql, [list(map(key, batch))]):
                rows = floats(vectors, field.size) if field.many else np.array([vectors], np.float32)
                found[name] = Vectors(rows, np.frombuffer(levels, np.int8), tuple(references))
        return found

    def nearest(
        self,
        query: FloatArray,
        field: Field,
        limit: int,
        where: Filter | None = None,
        among: Sequence[str] | None = None,
        *,
        exact: bool = True,
    ) -> list[tuple[str, float]]:
        """Return ids and scores of the entries nearest to a query; MaxSim is a sum here. `among` restricts the search to these ids."""
        from psycopg import sql

        conditions, values = conditions_of(where)
        conditions.append(having(field))
        if among is not None:
            conditions.append(sql.SQL("key = ANY(%s)"))
            values.append(list(map(key, dict.fromkeys(among))))
        narrowed = sql.SQL(" AND ").join(conditions)
        if not field.many:
            return self._by_server(query, field, limit, narrowed, values, exact=exact)
        column = sql.Identifier(f"v_{field.name}")
        query_sql: sql.Composed = sql.SQL("SELECT id, {} FROM {} WHERE {}").format(
            column, self.name, narrowed
        )
        return self._connections.read(
            f"search {self.of}",
            lambda connection: self._scored(connection, query_sql, values, query, limit),
        )

    def _by_server(
        self,
        query: FloatArray,
        field: Field,
        limit: int,
        narrowed: sql.Composable,
        values: list[Any],
        *,
        exact: bool,
    ) -> list[tuple[str, float]]:
        """Let the server compare single vectors, through a graph if the search need not be exact."""
        from psycopg import sql

        graphed = None if exact else self._graphed(field)
        score = sql.SQL("-({} <#> %s::vector)").format(sql.Identifier(f"v_{field.name}"))
        if graphed is None:
            order: sql.Composable = sql.SQL("2 DESC")
            values = [shown(query), *values]
        else:
            order = sql.SQL("{} <#> %s::halfvec").format(graphed)
            values = [shown(query), *values, shown(query)]
        query_sql = sql.SQL("SELECT id, {} FROM {} WHERE {} ORDER BY {} LIMIT {}").format(
            score, self.name, narrowed, order, sql.SQL(str(limit))
        )

        def work(connection: Connection) -> list[tuple[str, float]]:
            if graphed is not None:
                self._look_closely(connection, limit)
            return [(row[0], row[1]) for row in connection.execute(query_sql, values)]

        found = self._connections.read(f"search {self.of}", work)
        return sorted(found, key=lambda each: -each[1])

    def _scored(
        self,
        connection: Connection,
        query_sql: sql.Composed,
        values: list[Any],
        query: FloatArray,
        limit: int,
    ) -> list[tuple[str, float]]:
        """Compute the MaxSim of entries as they arrive from the server; return the best."""
        names: list[str] = []
        scores = np.empty(0, np.float32)
        for some, vectors, starts in _scanned(connection, query_sql, values, query.shape[1]):
            names += some
            best = np.maximum.reduceat(similarities(query, vectors), starts, axis=1)
            scores = np.concatenate([scores, best.sum(axis=0)])
            if len(scores) > 4 * limit + BATCH:
                names, scores = _best(names, scores, limit)
        names, scores = _best(names, scores, limit)
        order = np.argsort(-scores, kind="stable")
        return [(names[row], float(scores[row])) for row in order.tolist()]

    def _look_closely(self, connection: Connection, limit: int) -> None:
        """Set the width of graph searches until the transaction ends."""
        settings = {
            "hnsw.ef_search": str(min(_MOST_EF, max(self._ef, limit))),
            "hnsw.iterative_scan": "strict_order",
            "hnsw.max_scan_tuples": str(max(20_000, 20 * limit)),
        }
        query_sql = ", ".join(["set_config(%s, %s, true)"] * len(settings))
        connection.execute(f"SELECT {query_sql}", [word for setting in settings.items() for word in setting])

    def _rows(self, what: str, query_sql: sql.Composed, values: list[Any]) -> list[Any]:
        return self._connections.read(
            f"{what} {self.of}",
            lambda connection: connection.cursor(binary=True).execute(query_sql, values).fetchall(),
        )


def _scanned(
    connection: Connection, query_sql: sql.Composed, values: list[Any], size: int
) -> Iterator[tuple[list[str], FloatArray, IntArray]]:
    """Yield ids and concatenated rows of entries as they arrive from the server, with the start of each entry.

    Only one batch is in memory at a time.
    """
    cursors: Any = connection.cursor("mathamr_scan", binary=True)
    with cursors as cursor:
        cursor.execute(query_sql, values)
        while rows := cursor.fetchmany(BATCH):
            cells = [row[1] for row in rows]
            counts = np.array([len(cell) for cell in cells]) // (4 * size)
            yield [row[0] for row in rows], floats(b"".join(cells), size), np.cumsum(counts) - counts


def _best(names: list[str], scores: FloatArray, limit: int) -> tuple[list[str], FloatArray]:
    if len(scores) <= limit:
        return names, scores
    chosen = np.argpartition(scores, -limit)[-limit:]
    return [names[row] for row in chosen.tolist()], scores[chosen]
