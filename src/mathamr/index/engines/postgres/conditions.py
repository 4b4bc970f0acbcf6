"""Filters, fields and vectors as Postgres is asked for them; values go beside the statement, never into it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mathamr.core.arrays import FloatArray
from mathamr.index.engines.entry import Filter
from mathamr.index.engines.postgres import copying
from mathamr.systems.field import Field

if TYPE_CHECKING:
    from psycopg import sql


def having(field: Field | None) -> sql.Composable:
    """The condition that an entry has a field."""
    from psycopg import sql

    if field is None:
        return sql.SQL("true")
    return sql.SQL("{} IS NOT NULL").format(sql.Identifier(f"v_{field.name}"))


def conditions_of(where: Filter | None) -> tuple[list[sql.Composable], list[Any]]:
    """A filter in SQL, and the values in it."""
    from psycopg import sql

    if not where:
        return [], []
    after, before = where.times
    asked: list[tuple[str, Any]] = []
    if where.kinds:
        asked.append(("kind = ANY(%s)", list(map(copying.kept, where.kinds))))
    if where.tags:
        asked.append(("tags @> %s::text[]", list(map(copying.kept, where.tags))))
    if where.sources:
        asked.append(("source = ANY(%s)", list(map(copying.kept, where.sources))))
    if after is not None:
        asked.append(("time >= %s", after))
    if before is not None:
        asked.append(("time < %s", before))
    if where.minimum_score is not None:
        asked.append(("score >= %s", where.minimum_score))
    return [sql.SQL(condition) for condition, _ in asked], [value for _, value in asked]


def shown(numbers: FloatArray) -> str:
    """A vector as pgvector reads it."""
    return "[" + ",".join(f"{number:.9g}" for number in numbers.tolist()) + "]"
