"""`QdrantCollection`: the entries of one kind in a collection of a Qdrant server."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.core.batches import batches
from mathamr.core.errors import MathAMRError
from mathamr.core.retry import retry
from mathamr.index.engines.clientlibrary import ClientLibrary
from mathamr.index.engines.engine import check_number, check_writable
from mathamr.index.engines.entry import Entry, Filter, Payload, checked
from mathamr.systems.field import Field, FieldTarget
from mathamr.systems.vectors import Vectors

LIBRARY = ClientLibrary("qdrant_client", "Qdrant", "the Qdrant client", 'pip install "mathamr[qdrant]"')
LOCAL = "local"
FIELDS, ROWS = "fields", "rows"
"""The payload keys for an entry's fields and the parts that their rows represent."""
GRAPHED, QUANTISED = ("single", "all", "none"), ("none", "int8")
"""The values of the options `hnsw` (which fields get a graph for approximate search) and `quantisation`."""
DELAYS = (0.2, 1.0, 3.0)
"""Delays in seconds before a request is repeated."""
BUSY = (429, 502, 503, 504)
"""Status codes after which a request is repeated."""
BATCH = 512
"""Number of points that are sent at a time."""
PAGE = 4096
"""Number of ids that are listed at a time."""
MOST_NUMBERS = 1 << 20
"""The server's limit on the total components of a point's rows in one field."""
_NAMESPACE = uuid.UUID("6f1d7d2e-3f0b-5c1c-9a6e-6d6174686d72")
_LINKS = 16
_INDEXES = {
    "kind": "keyword",
    "tags": "keyword",
    "source": "keyword",
    "time": "float",
    "score": "integer",
    FIELDS: "keyword",
}
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """The address of the server and the settings of its collections."""

    url: str = ""
    """Like ``http://localhost:6333``; by default what MATHAMR_QDRANT_URL says. `local`: no server, for trying out."""
    collection: str = ""
    """The prefix of the collections' names; by default a new name."""
    shards: int = 1
    """Number of shards of a collection, spread over the machines of a cluster."""
    replicas: int = 1
    """Number of replicas of each shard."""
    consistency: int = 1
    """Number of replicas that must store a write before it is acknowledged."""
    hnsw: str = "single"
    """`single`: a graph over fields with one row per entry; `all`: over those with many rows as well; `none`."""
    quantisation: str = "none"
    """`int8`: vectors with a graph are also held in memory as bytes, all others on disk; `none`."""
    ef: int = 128
    """Number of neighbours that an approximate search follows (the thesis: 128)."""
    timeout: int = 60
    """Time limit of a request in seconds."""

    def __post_init__(self) -> None:
        for name, known in (("hnsw", GRAPHED), ("quantisation", QUANTISED)):
            if getattr(self, name) not in known:
                raise MathAMRError(
                    f"the qdrant engine's {name} is {', '.join(known)}, not {getattr(self, name)!r}"
                )
        for name, most in (
            ("shards", 4096),
            ("replicas", 256),
            ("consistency", 256),
            ("ef", 65536),
            ("timeout", 86400),
        ):
            check_number("qdrant engine", name, getattr(self, name), most)
        if len(self.collection) > 200 or any(character in '/\\<>:"|?*\0' for character in self.collection):
            raise MathAMRError(f"{self.collection[:50]!r} cannot be the name of a Qdrant collection")


def point_uuid(identifier: str) -> str:
    """Return the UUID of an entry's point."""
    return str(uuid.uuid5(_NAMESPACE, identifier))


class QdrantCollection:
    """The entries of one kind; every request is idempotent, and repeated if the server is unreachable or busy."""

    def __init__(
        self,
        of: FieldTarget,
        fields: tuple[Field, ...],
        client: Any,
        options: ServerOptions,
        *,
        writable: bool,
    ) -> None:
        from qdrant_client import models

        self.of, self.fields, self.writable = of, fields, writable
        self._client, self._options, self._models = client, options, models
        self.there = f"{options.collection}-{of}"

    def create(self) -> None:
        """Create the collection on the server."""
        models = self._models

        def params(field: Field) -> Any:
            several = models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM)
            has_graph = self._options.hnsw == "all" or (self._options.hnsw == "single" and not field.many)
            bytes_ = models.ScalarQuantizationConfig(type=models.ScalarType.INT8, always_ram=True)
            quantised = models.ScalarQuantization(scalar=bytes_)
            return models.VectorParams(
                size=field.size,
                distance=models.Distance.DOT,
                multivector_config=several if field.many else None,
                hnsw_config=models.HnswConfigDiff(m=_LINKS if has_graph else 0),
                quantization_config=quantised if has_graph and self._options.quantisation == "int8" else None,
                on_disk=field.many or self._options.quantisation == "int8" or None,
            )

        vectors = {field.name: params(field) for field in self.fields}

        with LIBRARY.reporting(f"make the collection {self.there}"):
            if self._client.collection_exists(self.there):
                raise MathAMRError(
                    f"the Qdrant server has a collection {self.there} already; choose another name"
                )
            self._client.create_collection(
                self.there,
                vectors_config=vectors,
                shard_number=self._options.shards,
                replication_factor=self._options.replicas,
                write_consistency_factor=self._options.consistency,
            )
            if self._options.url != LOCAL:
                for key, schema in _INDEXES.items():
                    self._client.create_payload_index(self.there, key, schema)

    def check(self) -> None:
        """Raise an error if the collection does not exist."""
        with LIBRARY.reporting(f"find the collection {self.there}"):
            if not self._client.collection_exists(self.there):
                raise MathAMRError(f"the Qdrant server has no collection {self.there}; build the index again")

    def count(self, field: Field | None = None) -> int:
        """Return the number of entries, or of those that have a field."""
        with self._reporting("count"):
            return int(self._request(self._client.count, count_filter=self._having(field), exact=True).count)

    def ids(self, field: Field | None = None) -> Iterator[str]:
        """Yield the ids of all entries, or of those that have a field."""
        offset = None
        while True:
            with self._reporting("list"):
                records, offset = self._request(
                    self._client.scroll,
                    limit=PAGE,
                    offset=offset,
                    scroll_filter=self._having(field),
                    with_payload=["id"],
                    with_vectors=False,
                )
            for record in records:
                yield record.payload["id"]
            if offset is None:
                return

    def upsert(self, entries: Iterable[Entry]) -> None:
        """Add or replace entries."""
        check_writable(self)
        accepted = {entry.id: entry for entry in checked(entries, self.fields)}
        for entry in accepted.values():
            _check_numbers(entry)
        with self._reporting("store"):
            for batch in _portions(accepted.values()):
                self._request(self._client.upsert, [self._point(entry) for entry in batch], wait=True)

    def _point(self, entry: Entry) -> Any:
        rows = ((field, entry.rows[field.name].vectors) for field in self.fields if field.name in entry.rows)
        about = asdict(entry.payload) | {"id": entry.id, "time": entry.payload.time, FIELDS: list(entry.rows)}
        about[ROWS] = {
            name: {"levels": rows.levels.tolist(), "references": list(rows.references)}
            for name, rows in entry.rows.items()
        }
        return self._models.PointStruct(
            id=point_uuid(entry.id),
            vector={field.name: (vectors if field.many else vectors[0]).tolist() for field, vectors in rows},
            payload={name: value for name, value in about.items() if value is not None},
        )

    def delete(self, ids: Iterable[str]) -> None:
        """Delete entries."""
        check_writable(self)
        with self._reporting("delete"):
            for batch in batches(ids, BATCH):
                self._request(self._client.delete, list(map(point_uuid, batch)), wait=True)

    def payloads(self, ids: Sequence[str]) -> dict[str, Payload]:
        """Return the payloads of entries."""
        return {
            row["id"]: Payload(
                kind=row["kind"],
                tags=tuple(row["tags"]),
                date=row.get("date"),
                score=row.get("score"),
                source=row["source"],
                post=row["post"],
                visual=row["visual"],
            )
            for row in (record.payload for record in self._retrieve(ids, with_payload=True))
        }

    def fetch(self, ids: Sequence[str], field: Field) -> dict[str, Vectors]:
        """Return the rows of entries in a field."""
        found = {}
        for record in self._retrieve(ids, with_payload=["id", FIELDS, ROWS], with_vectors=[field.name]):
            if field.name in record.payload[FIELDS]:
                about = record.payload[ROWS][field.name]
                found[record.payload["id"]] = Vectors(
                    np.asarray(record.vector[field.name], np.float32).reshape(-1, field.size),
                    np.array(about["levels"], np.int8),
                    tuple(about["references"]),
                )
        return found

    def _retrieve(self, ids: Sequence[str], **parts: Any) -> Iterator[Any]:
        for batch in batches(dict.fromkeys(ids), BATCH):
            with self._reporting("read"):
                records = self._request(self._client.retrieve, list(map(point_uuid, batch)), **parts)
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
        models = self._models
        conditions = self._conditions(where) if where else []
        if among is not None:
            conditions.append(models.HasIdCondition(has_id=sorted(set(map(point_uuid, among)))))
        with self._reporting("search"):
            answer = self._request(
                self._client.query_points,
                query=query.tolist(),
                using=field.name,
                limit=limit,
                query_filter=models.Filter(must=conditions) if conditions else None,
                with_payload=["id"],
                search_params=self._parameters(limit, exact=exact),
            )
            return [(point.payload["id"], point.score) for point in answer.points]

    def _reporting(self, what: str) -> AbstractContextManager[None]:
        """Turn errors of the library into ours, with the failed action and the collection."""
        return LIBRARY.reporting(f"{what} {self.of}")

    def _request(self, ask: Callable[..., Answer], *values: Any, **options: Any) -> Answer:
        return retry(lambda: ask(self.there, *values, **options), DELAYS, _is_temporary)

    def _parameters(self, limit: int, *, exact: bool) -> Any:
        """Return the search parameters, such as `ef`; the client's own engine is always exact and ignores them."""
        models = self._models
        if self._options.url == LOCAL:
            return None
        parameters = models.SearchParams(exact=exact, hnsw_ef=None if exact else max(self._options.ef, limit))
        if self._options.quantisation != "none":
            # The int8 vectors find twice as many candidates as requested, which then get their exact scores.
            parameters.quantization = models.QuantizationSearchParams(
                ignore=exact, rescore=True, oversampling=2.0
            )
        return parameters

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
            wanted.append(field(key="time", range=models.Range(gte=after, lt=before)))
        if where.minimum_score is not None:
            wanted.append(field(key="score", range=models.Range(gte=float(where.minimum_score))))
        return wanted


def _check_numbers(entry: Entry) -> None:
    """Raise if an entry has more components in a field than Qdrant allows for a point."""
    for name, rows in entry.rows.items():
        if rows.vectors.size > MOST_NUMBERS:
            most = MOST_NUMBERS // rows.vectors.shape[1]
            raise MathAMRError(
                f"{entry.id!r} has {len(rows):,} rows in the field {name}; a point of Qdrant has {MOST_NUMBERS:,}"
                f" numbers, {most:,} rows here, at most: cut the post into several, or use the engine flat or postgres"
            )


def _portions(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """Group entries into requests of a size that a server accepts: fewer points if they have many components."""
    portion: list[Entry] = []
    numbers = 0
    for entry in entries:
        size = sum(rows.vectors.size for rows in entry.rows.values())
        if portion and (len(portion) == BATCH or numbers + size > MOST_NUMBERS):
            yield portion
            portion, numbers = [], 0
        portion.append(entry)
        numbers += size
    if portion:
        yield portion


def _is_temporary(error: Exception) -> bool:
    """Return True if a request may succeed later: the server was unreachable, is busy, or changes its leader."""
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

    if isinstance(error, UnexpectedResponse):
        return error.status_code in BUSY
    return isinstance(error, ResponseHandlingException | ConnectionError | TimeoutError)
