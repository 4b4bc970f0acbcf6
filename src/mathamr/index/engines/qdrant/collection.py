"""The common part of the two Qdrant engines: a collection of points for every kind of entry, and requests to it."""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from hashlib import sha1
from typing import Any, ClassVar

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.core.batches import batches
from mathamr.core.errors import MathAMRError
from mathamr.index.engines.base import ClientLibrary
from mathamr.index.engines.entry import Entry, Filter, Payload, checked
from mathamr.systems.field import Field, FieldTarget
from mathamr.systems.vectors import Vectors

FIELDS, ROWS = "fields", "rows"
"""The payload keys for an entry's fields and the parts that their rows represent."""
_NAMES = uuid.UUID("6f1d7d2e-3f0b-5c1c-9a6e-6d6174686d72").bytes


def point_uuid(identifier: str) -> str:
    """Return the UUID of an entry's point."""
    word = bytearray(sha1(_NAMES + identifier.encode(), usedforsecurity=False).digest()[:16])
    # Equal to `uuid.uuid5`, in a third of its time.
    word[6] = word[6] & 0x0F | 0x50
    word[8] = word[8] & 0x3F | 0x80
    text = word.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def payload_row(entry: Entry) -> dict[str, Any]:
    """Return a payload as a Qdrant payload; unknown values are left out."""
    payload = entry.payload
    row = {
        "id": entry.id,
        "kind": payload.kind,
        "tags": list(payload.tags),
        "source": payload.source,
        "post": payload.post,
        "visual": payload.visual,
        "date": payload.date,
        "time": payload.time,
        "score": payload.score,
        FIELDS: list(entry.rows),
        ROWS: {
            name: {"levels": rows.levels.tolist(), "references": list(rows.references)}
            for name, rows in entry.rows.items()
        },
    }
    return {name: value for name, value in row.items() if value is not None}


def read_payload(row: dict[str, Any]) -> Payload:
    """Return the inverse of `payload_row`."""
    return Payload(
        kind=row["kind"],
        tags=tuple(row["tags"]),
        date=row.get("date"),
        score=row.get("score"),
        source=row["source"],
        post=row["post"],
        visual=row["visual"],
    )


def read_rows(row: dict[str, Any], vectors: Any, field: Field) -> Vectors:
    """Return the rows of a field, from a payload and the named vector."""
    about = row[ROWS][field.name]
    return Vectors(
        np.asarray(vectors, np.float32).reshape(-1, field.size),
        np.array(about["levels"], np.int8),
        tuple(about["references"]),
    )


def named_vectors(entries: Sequence[Entry], fields: Sequence[Field]) -> list[dict[str, FloatArray]]:
    """Return the named vectors of entries."""
    return [
        {
            field.name: entry.rows[field.name].vectors if field.many else entry.rows[field.name].vectors[0]
            for field in fields
            if field.name in entry.rows
        }
        for entry in entries
    ]


GRAPHED = ("single", "all", "none")
"""The values of the option `hnsw`: which fields get a graph for approximate search."""
MOST_NEIGHBOURS = 65536
"""The largest value of the option `ef`."""
BATCH = 512
"""Number of points that are sent at a time."""
PAGE = 4096
"""Number of ids that are listed at a time."""
MOST_NUMBERS = 1 << 20
"""The server's limit on the total components of a point's rows in one field."""
_LINKS = 16


def check_hnsw(engine: str, hnsw: str) -> None:
    """Raise if the option `hnsw` has an unknown value."""
    if hnsw not in GRAPHED:
        raise MathAMRError(f"the {engine} engine's hnsw is {', '.join(GRAPHED)}, not {hnsw!r}")


def links(hnsw: str, field: Field) -> int:
    """Return the number of links per point in the graph over a field; None if there is no graph."""
    return _LINKS if hnsw == "all" or (hnsw == "single" and not field.many) else 0


def damage(collections: Iterable[QdrantCollection]) -> list[str]:
    """Return messages about damaged collections."""
    words = []
    for collection in collections:
        try:
            collection.check()
        except MathAMRError as error:
            words.append(str(error))
    return words


def check_numbers(entry: Entry) -> None:
    """Raise if an entry has more components in a field than Qdrant allows for a point."""
    for name, rows in entry.rows.items():
        if rows.vectors.size > MOST_NUMBERS:
            most = MOST_NUMBERS // rows.vectors.shape[1]
            raise MathAMRError(
                f"{entry.id!r} has {len(rows):,} rows in the field {name}; a point of Qdrant has {MOST_NUMBERS:,}"
                f" numbers, {most:,} rows here, at most: cut the post into several, or use the engine flat or postgres"
            )


class QdrantCollection(ABC):
    """The entries of one kind, based on the few calls in which the engines differ; see `EntryStore`."""

    library: ClassVar[ClientLibrary]

    def __init__(
        self,
        of: FieldTarget,
        fields: tuple[Field, ...],
        neighbours: int,
        *,
        writable: bool,
    ) -> None:
        self.of, self.fields, self._neighbours, self._writable = of, fields, neighbours, writable

    @property
    @abstractmethod
    def _models(self) -> Any:
        """The library's request models; both libraries have the same ones except for ranges and sets of ids."""

    @abstractmethod
    def _range(self, **ends: float | None) -> Any:
        """Return the range condition of the library."""

    @abstractmethod
    def _among(self, uuids: set[str]) -> Any:
        """Return the condition that a point is among these."""

    @abstractmethod
    def _put(self, entries: Sequence[Entry]) -> None: ...

    @abstractmethod
    def _remove(self, uuids: list[str]) -> None: ...

    @abstractmethod
    def _records(self, uuids: list[str], payload: bool | list[str], vectors: bool | list[str]) -> list[Any]:
        """Points with these parts of their payloads and vectors."""

    @abstractmethod
    def _page(self, offset: Any, where: Any) -> tuple[list[Any], Any]:
        """Return a page of points with their ids, and the offset of the next page."""

    @abstractmethod
    def _points(self, query: FloatArray, using: str, limit: int, where: Any, parameters: Any) -> list[Any]:
        """Return the nearest points with ids and scores; MaxSim is a sum here."""

    @abstractmethod
    def _count(self, where: Any) -> int: ...

    @abstractmethod
    def check(self) -> None:
        """Raise an error if the collection is damaged or cannot be read."""

    def count(self, field: Field | None = None) -> int:
        """Return the number of entries, or of those that have a field."""
        with self._reporting("count"):
            return self._count(self._having(field))

    def ids(self, field: Field | None = None) -> Iterator[str]:
        """Yield the ids of all entries, or of those that have a field."""
        offset = None
        while True:
            with self._reporting("list"):
                records, offset = self._page(offset, self._having(field))
            for record in records:
                yield record.payload["id"]
            if offset is None:
                return

    def upsert(self, entries: Iterable[Entry]) -> None:
        """Add or replace entries."""
        self._check_writable()
        accepted = {entry.id: entry for entry in checked(entries, self.fields)}
        for entry in accepted.values():
            check_numbers(entry)
        for batch in batches(accepted.values(), BATCH):
            self._put(batch)

    def delete(self, ids: Iterable[str]) -> None:
        """Delete entries."""
        self._check_writable()
        for batch in batches(ids, BATCH):
            self._remove([point_uuid(identifier) for identifier in batch])

    def _check_writable(self) -> None:
        if not self._writable:
            raise MathAMRError("the engine was opened for reading only")

    def payloads(self, ids: Sequence[str]) -> dict[str, Payload]:
        """Return the payloads of entries."""
        records = self._retrieve(ids, True, False)
        return {record.payload["id"]: read_payload(record.payload) for record in records}

    def fetch(self, ids: Sequence[str], field: Field) -> dict[str, Vectors]:
        """Return the rows of entries in a field."""
        return {
            record.payload["id"]: read_rows(record.payload, record.vector[field.name], field)
            for record in self._retrieve(ids, ["id", FIELDS, ROWS], [field.name])
            if field.name in record.payload[FIELDS]
        }

    def _retrieve(
        self, ids: Sequence[str], payload: bool | list[str], vectors: bool | list[str]
    ) -> Iterator[Any]:
        for batch in batches(dict.fromkeys(ids), BATCH):
            with self._reporting("read"):
                records = self._records([point_uuid(identifier) for identifier in batch], payload, vectors)
            yield from records

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
        conditions = self._conditions(where) if where else []
        if among is not None:
            conditions.append(self._among({point_uuid(identifier) for identifier in among}))
        narrowed = self._models.Filter(must=conditions) if conditions else None
        scanned = narrowed is not None and not exact and self._scans(narrowed)
        with self._reporting("search"):
            points = self._points(
                query,
                field.name,
                limit,
                narrowed,
                self._parameters(exact or scanned, limit),
            )
            return [(point.payload["id"], point.score) for point in points]

    def _scans(self, narrowed: Any) -> bool:
        """Return True if the points that pass a filter are scanned instead of searched in a graph.

        A server decides this itself: its links follow the payload's indexes, and it estimates how many points pass.
        """
        return False

    def _reporting(self, what: str) -> AbstractContextManager[None]:
        """Turn errors of the library into ours, with the failed action and the collection."""
        return self.library.reporting(f"{what} {self.of}")

    def _parameters(self, exact: bool, limit: int) -> Any:
        """Return the search parameters, such as `ef`."""
        return self._models.SearchParams(exact=exact, hnsw_ef=None if exact else max(self._neighbours, limit))

    def _having(self, field: Field | None) -> Any:
        """Return the filter for entries that have a field."""
        models = self._models
        if field is None:
            return None
        having = models.FieldCondition(key=FIELDS, match=models.MatchValue(value=field.name))
        return models.Filter(must=[having])

    def _conditions(self, where: Filter) -> list[Any]:
        """Return a filter as conditions of the library."""
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
