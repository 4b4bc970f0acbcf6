"""The engine `qdrant`: a Qdrant server or cluster, by URL and API key.

The folder holds no vectors, only `engine.json` with the URL and the prefix of its collections' names; the API key is read from
the environment each time. With the URL `local` the client's own small engine stores them in the folder: it answers the same
calls, slowly, and is meant for trials.
"""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar
from urllib.parse import urlsplit

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.core.batches import batches, portions
from mathamr.core.errors import MathAMRError
from mathamr.core.retry import retry
from mathamr.core.settings import QDRANT_API_KEY, QDRANT_URL
from mathamr.index.engines.engine import (
    ClientLibrary,
    Engine,
    EngineHead,
    by_kind,
    check_number,
    check_writable,
    read_options,
)
from mathamr.index.engines.entry import Entry, Filter, Payload, checked
from mathamr.index.engines.nearestfield import NearestField
from mathamr.systems.field import Field, FieldTarget
from mathamr.systems.vectors import Vectors

LIBRARY = ClientLibrary("qdrant_client", "Qdrant", "the Qdrant client", 'pip install "mathamr[qdrant]"')
LOCAL = "local"
FIELDS, ROWS = "fields", "rows"
"""The payload keys for an entry's fields and the parts that their rows represent."""
GRAPHED = ("single", "all", "none")
"""The values of the option `hnsw`: which fields get a graph for approximate search."""
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
    ef: int = 128
    """Number of neighbours that an approximate search follows (the thesis: 128)."""
    timeout: int = 60
    """Time limit of a request in seconds."""

    def __post_init__(self) -> None:
        if self.hnsw not in GRAPHED:
            raise MathAMRError(f"the qdrant engine's hnsw is {', '.join(GRAPHED)}, not {self.hnsw!r}")
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
            return models.VectorParams(
                size=field.size,
                distance=models.Distance.DOT,
                multivector_config=several if field.many else None,
                hnsw_config=models.HnswConfigDiff(m=_LINKS if has_graph else 0),
                on_disk=field.many or None,
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

    def ids(self, field: Field | None = None, where: Filter | None = None) -> Iterator[str]:
        """Yield the ids of all entries, or of those that have a field or pass a filter."""
        offset = None
        while True:
            with self._reporting("list"):
                records, offset = self._request(
                    self._client.scroll,
                    limit=PAGE,
                    offset=offset,
                    scroll_filter=self._models.Filter(must=self._conditions(where))
                    if where
                    else self._having(field),
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
            for batch in portions(accepted.values(), BATCH, _numbers, MOST_NUMBERS):
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
        return models.SearchParams(exact=exact, hnsw_ef=None if exact else max(self._options.ef, limit))

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


def _numbers(entry: Entry) -> int:
    return sum(rows.vectors.size for rows in entry.rows.values())


def _check_numbers(entry: Entry) -> None:
    """Raise if an entry has more components in a field than Qdrant allows for a point."""
    for name, rows in entry.rows.items():
        if rows.vectors.size > MOST_NUMBERS:
            most = MOST_NUMBERS // rows.vectors.shape[1]
            raise MathAMRError(
                f"{entry.id!r} has {len(rows):,} rows in the field {name}; a point of Qdrant has {MOST_NUMBERS:,}"
                f" numbers, {most:,} rows here, at most: cut the post into several, or use the engine flat or postgres"
            )


def _is_temporary(error: Exception) -> bool:
    """Return True if a request may succeed later: the server was unreachable, is busy, or changes its leader."""
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

    if isinstance(error, UnexpectedResponse):
        return error.status_code in BUSY
    return isinstance(error, ResponseHandlingException | ConnectionError | TimeoutError)


PORT = 6333


class ServerEngine(Engine):
    """A collection of a server for every kind of entry; see `Engine`."""

    name: ClassVar[str] = "qdrant"
    remote = True
    library = LIBRARY
    _client: Any

    @classmethod
    def choose_options(cls, options: Mapping[str, Any] | None) -> ServerOptions:
        """Return the options with a server and a new name of the collections."""
        chosen = read_options(ServerOptions, cls.name, options)
        if not (chosen.url or QDRANT_URL.value):
            raise MathAMRError(
                "no Qdrant server is named; set MATHAMR_QDRANT_URL (and MATHAMR_QDRANT_API_KEY), or the option url"
            )
        collection = chosen.collection or f"mathamr-{uuid.uuid4().hex[:12]}"
        return replace(chosen, url=chosen.url or QDRANT_URL.value, collection=collection)

    @classmethod
    def open(cls, folder: Path, *, read_only: bool = False, is_new: bool = False) -> Self:
        """Return the collections that a folder names."""
        head = EngineHead.read(folder, cls.name)
        options = read_options(ServerOptions, cls.name, head.options)
        client = _client(folder, options, is_new=is_new)
        try:
            stores = {
                of: QdrantCollection(of, own, client, options, writable=not read_only)
                for of, own in by_kind(head.fields).items()
            }
            for collection in stores.values():
                if is_new:
                    collection.create()
                else:
                    collection.check()
        except BaseException:
            client.close()
            raise
        engine = cls(
            folder,
            head.fields,
            stores,
            {each.name: NearestField(each, stores[each.of]) for each in head.fields},
        )
        engine._client = client
        return engine

    def passing(self, of: FieldTarget, where: Filter) -> Iterator[str]:
        """Yield the ids of the entries that pass a filter, which the server selects."""
        return iter(self.stores[of].ids(where=where) if of in self.stores else ())

    def flush(self) -> None:
        """Do nothing: the server has acknowledged every write."""

    def optimize(self) -> None:
        """Do nothing: the server optimizes by itself."""

    def close(self) -> None:
        """End the connection."""
        if self._client is not None:
            self._client.close()
            self._client = None


def origin(url: str) -> tuple[str, str, int] | None:
    """Return scheme, host and port of a server, to which an API key belongs."""
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        return (parts.scheme, parts.hostname, parts.port or PORT) if parts.hostname else None
    except ValueError:
        return None


def _client(folder: Path, options: ServerOptions, *, is_new: bool) -> Any:
    import qdrant_client

    ours = options.url != LOCAL and origin(options.url) in {origin(QDRANT_URL.value)} - {None}
    if not (is_new or ours or options.url == LOCAL):
        raise MathAMRError(
            f"{folder} keeps its vectors on the Qdrant server {options.url[:200]!r}, which MATHAMR_QDRANT_URL does not"
            " name; a folder never chooses whom to speak with: if it is yours, set MATHAMR_QDRANT_URL to it"
        )
    with LIBRARY.reporting(f"open {options.url}"), warnings.catch_warnings():
        # An API key over plain http to this machine is the user's choice.
        warnings.simplefilter("ignore", UserWarning)
        if options.url == LOCAL:
            return qdrant_client.QdrantClient(path=str(folder / LOCAL), force_disable_check_same_thread=True)
        return qdrant_client.QdrantClient(
            url=QDRANT_URL.value if ours else options.url,
            api_key=(QDRANT_API_KEY.value or None) if ours else None,
            timeout=options.timeout,
            check_compatibility=False,
        )
