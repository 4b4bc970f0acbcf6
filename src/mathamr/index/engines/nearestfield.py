"""`NearestField`: reads one field of a store that finds the nearest entries itself, and orders ties."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.core.batches import batches
from mathamr.index.engines.entry import Filter, unit, unit_query
from mathamr.index.scored import DECIMALS, Scored, best, check_k
from mathamr.systems.field import Field
from mathamr.systems.vectors import Vectors

_AT_A_TIME = 4096
"""Number of entries that are scored at a time."""
_TIE = 1.5 * 10.0**-DECIMALS


class NearestField:
    """Those entries of a store that have vectors in a field; see `FieldReader`.

    The store counts, lists and fetches the entries of a field, and finds those nearest to a query (`PostgresTable`, `QdrantCollection`).
    """

    def __init__(self, field: Field, collection: Any) -> None:
        self.field, self._collection = field, collection

    def count(self) -> int:
        """Return the number of entries."""
        return int(self._collection.count(self.field))

    def ids(self) -> Iterator[str]:
        """Return the ids of all entries."""
        return iter(self._collection.ids(self.field))

    def fetch(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """Return the rows of entries."""
        return dict(self._collection.fetch(ids, self.field))

    def search(
        self, vector: FloatArray, k: int, where: Filter | None = None, *, exact: bool = True
    ) -> Sequence[Scored]:
        """Return the k nearest entries."""
        query = unit(vector, self.field.size, "the query's vector", dimensions=1)[None]
        return best(*self._nearest(query, check_k(k), where, exact=exact), k)

    def search_maxsim(
        self, vectors: FloatArray, k: int, where: Filter | None = None, *, exact: bool = True
    ) -> Sequence[Scored]:
        """Return the k best entries by MaxSim."""
        return best(*self._nearest(unit_query(vectors, self.field.size), check_k(k), where, exact=exact), k)

    def search_rows(self, vectors: FloatArray, k: int, where: Filter | None = None) -> list[Sequence[Scored]]:
        """Return for each row of the query the entries of the k nearest rows.

        They are among the rows of the k entries whose best row is nearest, and of those that tie with the last.
        """
        check_k(k)
        found: list[Sequence[Scored]] = []
        for row in unit_query(vectors, self.field.size):
            ids, _ = self._nearest(row[None], k, where)
            cosines = {name: rows.vectors @ row for name, rows in self.fetch(ids).items()}
            names = [name for name, own in cosines.items() for _ in own]
            found.append(best(names, np.concatenate([np.empty(0, np.float32), *cosines.values()]), k))
        return found

    def score(self, vectors: FloatArray, ids: Sequence[str]) -> Sequence[Scored]:
        """Return the exact MaxSim of given entries."""
        query, rows = self._reduced(unit_query(vectors, self.field.size))
        found: list[tuple[str, float]] = []
        for batch in batches(dict.fromkeys(ids), _AT_A_TIME):
            found += self._collection.nearest(query, self.field, len(batch), among=batch)
        return best([name for name, _ in found], [score / rows for _, score in found], len(found))

    def as_compared(self, vectors: FloatArray) -> FloatArray:
        """Return the rows of a query as they are."""
        return vectors

    def _reduced(self, query: FloatArray) -> tuple[FloatArray, int]:
        """Return the query that is sent to the store, and the divisor of its scores.

        If entries have one row, the mean of cosines is the product with the mean of the query's rows.
        """
        return (query, len(query)) if self.field.many else (np.asarray(query.mean(axis=0)), 1)

    def _nearest(
        self, query: FloatArray, k: int, where: Filter | None, *, exact: bool = True
    ) -> tuple[list[str], list[float]]:
        """Return the k best; requests more results while the first one beyond k may tie with the last of them."""
        reduced, rows = self._reduced(query)
        limit = k + 1
        while True:
            found = self._collection.nearest(reduced, self.field, limit, where, exact=exact)
            scores = [score / rows for _, score in found]
            if not exact or len(found) < limit or scores[k - 1] - scores[-1] > _TIE:
                return [identifier for identifier, _ in found], scores
            limit *= 4
