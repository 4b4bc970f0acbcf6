"""Values, filters and fields for statements to Postgres; values are passed as parameters, never inside the statement."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.index.engines.entry import Filter
from mathamr.systems.field import Field

if TYPE_CHECKING:
    from psycopg import sql

    from mathamr.index.engines.postgres.connections import Connection

_ESCAPE = "\ue000"


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


def escaped(word: str) -> str:
    r"""Replace the character 0, which Postgres cannot store in a text.

    >>> escaped("a\0b") == "a\ue000\ue001b", unescaped(escaped("\0\ue000\ue001")) == "\0\ue000\ue001"
    (True, True)
    """
    if "\0" not in word and _ESCAPE not in word:
        return word
    return word.replace(_ESCAPE, _ESCAPE * 2).replace("\0", f"{_ESCAPE}\ue001")


def unescaped(word: str) -> str:
    """Return the inverse of `escaped`."""
    if _ESCAPE not in word:
        return word
    parts = word.split(_ESCAPE * 2)
    return _ESCAPE.join(part.replace(f"{_ESCAPE}\ue001", "\0") for part in parts)


def floats(cell: bytes, size: int) -> FloatArray:
    """Rows of float32 from a cell of the type bytea."""
    return np.frombuffer(cell, "<f4").reshape(-1, size).astype(np.float32, copy=False)


def having(field: Field | None) -> sql.Composable:
    """Return the condition that an entry has a field."""
    from psycopg import sql

    if field is None:
        return sql.SQL("true")
    return sql.SQL("{} IS NOT NULL").format(sql.Identifier(f"v_{field.name}"))


def conditions_of(where: Filter | None) -> tuple[list[sql.Composable], list[Any]]:
    """Return a filter in SQL, and the values in it."""
    from psycopg import sql

    if not where:
        return [], []
    after, before = where.times
    conditions: list[tuple[str, Any]] = []
    if where.kinds:
        conditions.append(("kind = ANY(%s)", list(map(escaped, where.kinds))))
    if where.tags:
        conditions.append(("tags @> %s::text[]", list(map(escaped, where.tags))))
    if where.sources:
        conditions.append(("source = ANY(%s)", list(map(escaped, where.sources))))
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
