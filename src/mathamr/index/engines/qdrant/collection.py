"""What the two Qdrant engines share: requests, filters, graphs, and rankings whose ties are in order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar

import numpy as np

from mathamr.batches import batches
from mathamr.errors import MathAMRError
from mathamr.index.engines.maxsim import maxsim
from mathamr.index.engines.point import (
    DECIMALS,
    Filter,
    Floats,
    Payload,
    Point,
    Scored,
    best,
    check_k,
    checked,
    unit,
)
from mathamr.index.engines.qdrant.library import Library
from mathamr.index.engines.qdrant.record import ALL, DOC, point_uuid, read_payload

GRAPHED: dict[str, tuple[str, ...]] = {"doc": (DOC,), "all": (DOC, ALL), "none": ()}
"""What the option `hnsw` may be, and the vectors that get a graph for approximate search then."""
MOST_NEIGHBOURS = 65536
"""The option `ef` at most."""
_LINKS = 16
PAGE = 4096
"""Ids that are listed at a time."""
_TIE = 1.5 * 10.0**-DECIMALS


def check_hnsw(engine: str, hnsw: str) -> None:
    """Refuses an option `hnsw` that names no graphs."""
    if hnsw not in GRAPHED:
        raise MathAMRError(f"the {engine} engine's hnsw is doc, all or none, not {hnsw!r}")


def check_number(engine: str, name: str, value: int, most: int) -> None:
    """Refuses an option that is too small or too large."""
    if not 1 <= int(value) <= most:
        raise MathAMRError(f"the {engine} engine's {name} is from 1 to {most:,}, not {value}")


def links(hnsw: str, vectors: str) -> int:
    """How many neighbours a point has in the graph over the vectors of a name; none: there is no graph."""
    return _LINKS if vectors in GRAPHED[hnsw] else 0


def damage(collections: Iterable[QdrantCollection]) -> list[str]:
    """What is wrong with collections, in words."""
    words = []
    for collection in collections:
        try:
            collection.check()
        except MathAMRError as error:
            words.append(str(error))
    return words


class QdrantCollection(ABC):
    """A collection over the few calls in which the engines differ; see `Collection`."""

    library: ClassVar[Library]

    def __init__(self, name: str, size: int, neighbours: int, *, writable: bool) -> None:
        self.name, self.size, self._neighbours, self._writable = name, size, neighbours, writable
        self.multiple = name == "posts"

    @property
    @abstractmethod
    def _models(self) -> Any:
        """The library's words for requests; both have the same ones but for ranges and sets of ids."""

    @abstractmethod
    def _range(self, **ends: float | None) -> Any:
        """Numbers between two ends, as a condition has them."""

    @abstractmethod
    def _among(self, uuids: set[str]) -> Any:
        """The condition that a point is one of these."""

    @abstractmethod
    def _put(self, points: Sequence[Point]) -> None: ...

    @abstractmethod
    def _remove(self, uuids: list[str]) -> None: ...

    @abstractmethod
    def _records(self, uuids: list[str], payload: bool | list[str], vectors: bool | list[str]) -> list[Any]:
        """Points with these parts of their payloads and vectors."""

    @abstractmethod
    def _page(self, offset: Any) -> tuple[list[Any], Any]:
        """Some points with their ids, and where the next ones begin."""

    @abstractmethod
    def _points(self, query: Floats, using: str, limit: int, where: Any, parameters: Any) -> list[Any]:
        """The nearest points with ids and scores; MaxSim is a sum here."""

    @abstractmethod
    def count(self) -> int:
        """How many points there are."""

    @abstractmethod
    def check(self) -> None:
        """Complains when the collection is damaged or cannot be read."""

    def ids(self) -> Iterator[str]:
        """The ids of all points."""
        offset = None
        while True:
            with self._told("list"):
                records, offset = self._page(offset)
            for record in records:
                yield record.payload["id"]
            if offset is None:
                return

    def _told(self, what: str) -> AbstractContextManager[None]:
        """Errors of the library, with what it could not do with this collection."""
        return self.library.told(f"{what} {self.name}")

    def _retrieve(self, uuids: list[str], vectors: str | None) -> Iterator[tuple[dict[str, Any], Any]]:
        """(payload, vector of that name) of points."""
        with self._told("read"):
            records = self._records(
                uuids, True if vectors is None else ["id"], False if vectors is None else [vectors]
            )
        for record in records:
            yield record.payload, record.vector[vectors] if vectors else None

    def _nearest(
        self,
        query: Floats,
        using: str,
        limit: int,
        where: Filter | None,
        among: set[str] | None,
        exact: bool,
    ) -> list[tuple[str, float]]:
        """Ids and scores of the nearest points. `among` are UUIDs."""
        conditions = self._conditions(where) if where else []
        if among is not None:
            conditions.append(self._among(among))
        narrowed = self._models.Filter(must=conditions) if conditions else None
        with self._told("search"):
            points = self._points(query, using, limit, narrowed, self._parameters(exact, limit))
            return [(point.payload["id"], point.score) for point in points]

    def _parameters(self, exact: bool, limit: int) -> Any:
        """How closely to search."""
        return self._models.SearchParams(exact=exact, hnsw_ef=None if exact else max(self._neighbours, limit))

    def _conditions(self, where: Filter) -> list[Any]:
        """A filter in the words of the library."""
        models, (after, before) = self._models, where.times
        field = models.FieldCondition
        wanted = [field(key="tags", match=models.MatchValue(value=tag)) for tag in where.tags]
        if where.kinds:
            wanted.append(field(key="kind", match=models.MatchAny(any=list(where.kinds))))
        if where.sources:
            wanted.append(field(key="source", match=models.MatchAny(any=list(where.sources))))
        if after is not None or before is not None:
            wanted.append(field(key="time", range=self._range(gte=after, lt=before)))
        if where.minimum_score is not None:
            wanted.append(field(key="score", range=self._range(gte=float(where.minimum_score))))
        return wanted

    BATCH = 512
    """Points that go over at a time."""

    def upsert(self, points: Iterable[Point]) -> None:
        """Adds or replaces points."""
        self._check_writable()
        accepted = {point.id: point for point in checked(points, self.size, multiple=self.multiple)}
        for batch in batches(accepted.values(), self.BATCH):
            self._put(batch)

    def delete(self, ids: Iterable[str]) -> None:
        """Forgets points."""
        self._check_writable()
        for batch in batches(ids, self.BATCH):
            self._remove([point_uuid(identifier) for identifier in batch])

    def _check_writable(self) -> None:
        if not self._writable:
            raise MathAMRError("the engine was opened for reading only")

    def fetch(self, ids: Sequence[str]) -> dict[str, Floats]:
        """The vectors of points."""
        found = {}
        for batch in batches(dict.fromkeys(ids), self.BATCH):
            uuids = [point_uuid(identifier) for identifier in batch]
            for row, vectors in self._retrieve(uuids, ALL if self.multiple else DOC):
                found[row["id"]] = np.asarray(vectors, np.float32).reshape(-1, self.size)
        return found

    def payloads(self, ids: Sequence[str]) -> dict[str, Payload]:
        """What is known about points."""
        found = {}
        for batch in batches(dict.fromkeys(ids), self.BATCH):
            for row, _ in self._retrieve([point_uuid(identifier) for identifier in batch], None):
                found[row["id"]] = read_payload(row)
        return found

    def search(self, vector: Floats, k: int, where: Filter | None = None, exact: bool = True) -> list[Scored]:
        """The k nearest points."""
        query = unit(vector, self.size, "the query's vector", dimensions=1)
        return self._search(query, DOC, 1, check_k(k), where, exact)

    def search_maxsim(
        self, vectors: Floats, k: int, where: Filter | None = None, exact: bool = True
    ) -> list[Scored]:
        """The k best posts by MaxSim."""
        query = self._query(vectors)
        if not self.multiple:
            raise MathAMRError("formulas have one vector each; MaxSim searches posts")
        return self._search(query, ALL, len(query), check_k(k), where, exact)

    def _search(
        self, query: Floats, using: str, rows: int, k: int, where: Filter | None, exact: bool
    ) -> list[Scored]:
        """The k best; asks for more while the last that is left out may tie with the last that is kept."""
        limit = k + 1
        while True:
            found = self._nearest(query, using, limit, where, None, exact)
            scores = [score / rows for _, score in found]
            if not exact or len(found) < limit or scores[k - 1] - scores[-1] > _TIE:
                return best([identifier for identifier, _ in found], scores, k)
            limit *= 4

    def score(self, vectors: Floats, ids: Sequence[str]) -> list[Scored]:
        """The exact MaxSim of given posts."""
        query = self._query(vectors)
        found: list[tuple[str, float]] = []
        for batch in batches(dict.fromkeys(ids), 8 * self.BATCH):
            among = {point_uuid(identifier) for identifier in batch}
            if self.multiple:
                found += self._nearest(query, ALL, len(among), None, among, True)
            else:
                for identifier, own in self.fetch(batch).items():
                    found.append((identifier, len(query) * float(maxsim(query, own, np.zeros(1, int))[0])))
        return best([name for name, _ in found], [score / len(query) for _, score in found], len(found))

    def _query(self, vectors: Floats) -> Floats:
        query = unit(vectors, self.size, "the query's vectors", dimensions=2)
        if not len(query):
            raise MathAMRError("the query has no vectors")
        return query
