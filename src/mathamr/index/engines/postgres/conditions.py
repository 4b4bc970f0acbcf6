"""Filters, fields and vectors for statements to Postgres; values are passed as parameters, never inside the statement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mathamr.core.arrays import FloatArray
from mathamr.index.engines.entry import Filter
from mathamr.index.engines.postgres import copying
from mathamr.systems.field import Field

if TYPE_CHECKING:
    from psycopg import sql


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
        conditions.append(("kind = ANY(%s)", list(map(copying.escaped, where.kinds))))
    if where.tags:
        conditions.append(("tags @> %s::text[]", list(map(copying.escaped, where.tags))))
    if where.sources:
        conditions.append(("source = ANY(%s)", list(map(copying.escaped, where.sources))))
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
