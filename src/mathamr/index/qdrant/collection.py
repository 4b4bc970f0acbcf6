"""What the two Qdrant engines share: names of points, payloads, filters, and rankings whose ties are in order.

Points have the named vectors of the thesis (3.5.1): `doc`, the document's or formula's, and for posts `all`, every
representative, compared by MaxSim. Qdrant numbers points or names them by UUID: here the UUID is made from the id, and
the id stands in the payload. The distance is the dot product of vectors that have length one: their cosine, and zero
for a vector of zeros, which Qdrant's own cosine has no place for.
"""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha1
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from mathamr.errors import MathAMRError
from mathamr.index.maxsim import maxsim
from mathamr.index.point import DECIMALS, Filter, Floats, Payload, Point, Scored, best, check_k, checked, unit

DOC, ALL = "doc", "all"
_NAMES = uuid.UUID("6f1d7d2e-3f0b-5c1c-9a6e-6d6174686d72").bytes
_TIE = 1.5 * 10.0**-DECIMALS


T = TypeVar("T")


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch


def point_uuid(identifier: str) -> str:
    """The UUID under which Qdrant knows a point."""
    word = bytearray(sha1(_NAMES + identifier.encode(), usedforsecurity=False).digest()[:16])
    # Version 5 of the standard, as `uuid.uuid5` makes it, in a third of its time.
    word[6] = word[6] & 0x0F | 0x50
    word[8] = word[8] & 0x3F | 0x80
    text = word.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def payload_row(identifier: str, payload: Payload) -> dict[str, Any]:
    """A payload as Qdrant keeps it; what is unknown is left out."""
    row = {
        "id": identifier,
        "kind": payload.kind,
        "tags": list(payload.tags),
        "source": payload.source,
        "post": payload.post,
        "visual": payload.visual,
        "date": payload.date,
        "time": payload.time,
        "score": payload.score,
    }
    return {name: value for name, value in row.items() if value is not None}


def read_payload(row: dict[str, Any]) -> Payload:
    """The inverse of `payload_row`."""
    return Payload(
        kind=row["kind"],
        tags=tuple(row["tags"]),
        date=row.get("date"),
        score=row.get("score"),
        source=row["source"],
        post=row["post"],
        visual=row["visual"],
    )


def conditions(where: Filter, models: Any, range_type: Any) -> list[Any]:
    """A filter in the words of a Qdrant library; both have the same ones but for ranges."""
    after, before = where.times
    field = models.FieldCondition
    wanted = [field(key="tags", match=models.MatchValue(value=tag)) for tag in where.tags]
    if where.kinds:
        wanted.append(field(key="kind", match=models.MatchAny(any=list(where.kinds))))
    if where.sources:
        wanted.append(field(key="source", match=models.MatchAny(any=list(where.sources))))
    if after is not None or before is not None:
        wanted.append(field(key="time", range=range_type(gte=after, lt=before)))
    if where.minimum_score is not None:
        wanted.append(field(key="score", range=range_type(gte=float(where.minimum_score))))
    return wanted


class QdrantCollection(ABC):
    """A collection over the few calls in which the engines differ; see `Collection`."""

    def __init__(self, name: str, size: int, *, writable: bool) -> None:
        self.name, self.size, self._writable = name, size, writable
        self.multiple = name == "posts"

    @abstractmethod
    def _put(self, points: Sequence[Point]) -> None: ...

    @abstractmethod
    def _remove(self, uuids: list[str]) -> None: ...

    @abstractmethod
    def _retrieve(self, uuids: list[str], vectors: str | None) -> Iterator[tuple[dict[str, Any], Any]]:
        """(payload, vector of that name) of points."""

    @abstractmethod
    def _nearest(
        self,
        query: Floats,
        using: str,
        limit: int,
        where: Filter | None,
        among: set[str] | None,
        exact: bool,
    ) -> list[tuple[str, float]]:
        """Ids and scores of the nearest points; MaxSim is a sum here. `among` are UUIDs."""

    @abstractmethod
    def count(self) -> int:
        """How many points there are."""

    @abstractmethod
    def ids(self) -> Iterator[str]:
        """The ids of all points."""

    BATCH = 512
    """Points that go over at a time."""

    def upsert(self, points: Iterable[Point]) -> None:
        """Adds or replaces points."""
        self._check_writable()
        accepted = {point.id: point for point in checked(points, self.size, multiple=self.multiple)}
        for batch in _batches(accepted.values(), self.BATCH):
            self._put(batch)

    def delete(self, ids: Iterable[str]) -> None:
        """Forgets points."""
        self._check_writable()
        for batch in _batches(ids, self.BATCH):
            self._remove([point_uuid(identifier) for identifier in batch])

    def _check_writable(self) -> None:
        if not self._writable:
            raise MathAMRError("the engine was opened for reading only")

    def fetch(self, ids: Sequence[str]) -> dict[str, Floats]:
        """The vectors of points."""
        found = {}
        for batch in _batches(dict.fromkeys(ids), self.BATCH):
            uuids = [point_uuid(identifier) for identifier in batch]
            for row, vectors in self._retrieve(uuids, ALL if self.multiple else DOC):
                found[row["id"]] = np.asarray(vectors, np.float32).reshape(-1, self.size)
        return found

    def payloads(self, ids: Sequence[str]) -> dict[str, Payload]:
        """What is known about points."""
        found = {}
        for batch in _batches(dict.fromkeys(ids), self.BATCH):
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
        for batch in _batches(dict.fromkeys(ids), 8 * self.BATCH):
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
