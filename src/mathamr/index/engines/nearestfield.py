"""`NearestField`: reads one field of a store that finds the nearest entries itself, and orders ties."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.core.batches import batches
from mathamr.index.engines.entry import Filter, ScoredRow, best_rows, unit, unit_query
from mathamr.index.scored import DECIMALS, Scored, best, check_k
from mathamr.systems.field import Field
from mathamr.systems.vectors import Vectors

_AT_A_TIME = 4096
"""Number of entries that are scored at a time."""
_TIE = 1.5 * 10.0**-DECIMALS


class NearestStore(Protocol):
    """The entries of one kind in a store that compares vectors itself."""

    def count(self, field: Field | None = None) -> int:
        """Return the number of entries that have a field."""
        ...

    def ids(self, field: Field | None = None) -> Iterator[str]:
        """Return the ids of entries that have a field."""
        ...

    def fetch(self, ids: Sequence[str], field: Field) -> dict[str, Vectors]:
        """Return the rows of entries in a field."""
        ...

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
        """Return ids and scores of the entries nearest to a query, best first; MaxSim is a sum here. `among` restricts the search to these ids."""
        ...


class NearestField:
    """Those entries of a store that have vectors in a field; see `FieldReader`."""

    def __init__(self, field: Field, collection: NearestStore) -> None:
        self.field, self._collection = field, collection

    def count(self) -> int:
        """Return the number of entries."""
        return self._collection.count(self.field)

    def ids(self) -> Iterator[str]:
        """Return the ids of all entries."""
        return self._collection.ids(self.field)

    def fetch(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """Return the rows of entries."""
        return self._collection.fetch(ids, self.field)

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

    def search_rows(self, vectors: FloatArray, k: int, where: Filter | None = None) -> list[list[ScoredRow]]:
        """Return for each row of the query the k nearest rows.

        They are among the rows of the k entries whose best row is nearest, and of those that tie with the last.
        """
        check_k(k)
        found = []
        for row in unit_query(vectors, self.field.size):
            ids, _ = self._nearest(row[None], k, where)
            found.append(
                best_rows(
                    [
                        ScoredRow(identifier, number, reference, score)
                        for identifier, rows in self.fetch(ids).items()
                        for number, (reference, score) in enumerate(
                            zip(rows.references, (rows.vectors @ row).tolist(), strict=True)
                        )
                    ],
                    k,
                )
            )
        return found

    def score(self, vectors: FloatArray, ids: Sequence[str]) -> Sequence[Scored]:
        """Return the exact MaxSim of given entries."""
        query, rows = self._reduced(unit_query(vectors, self.field.size))
        found: list[tuple[str, float]] = []
        for batch in batches(dict.fromkeys(ids), _AT_A_TIME):
            found += self._collection.nearest(query, self.field, len(batch), among=batch)
        return best([name for name, _ in found], [score / rows for _, score in found], len(found))

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
