"""`PostgresField`: reads one field of a Postgres table; all rows of a query are searched in one scan."""

from __future__ import annotations

from mathamr.core.arrays import FloatArray
from mathamr.index.engines.entry import Filter, ScoredRow, best_rows, unit_query
from mathamr.index.engines.nearestfield import NearestField
from mathamr.index.engines.postgres.table import PostgresTable
from mathamr.index.scored import check_k
from mathamr.systems.field import Field


class PostgresField(NearestField):
    """Those entries of a table that have vectors in a field; see `FieldReader`."""

    def __init__(self, field: Field, table: PostgresTable) -> None:
        super().__init__(field, table)
        self._table = table

    def search_rows(
        self, vectors: FloatArray, k: int, where: Filter | None = None, exact: bool = True
    ) -> list[list[ScoredRow]]:
        """Return for each row of the query the k nearest rows."""
        if not (exact and self.field.many):
            return super().search_rows(vectors, k, where, exact)
        query = unit_query(vectors, self.field.size)
        found = self._table.nearest_rows(query, self.field, check_k(k), where)
        return [best_rows(rows, k) for rows in found]
