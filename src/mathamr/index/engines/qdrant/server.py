"""The engine `qdrant`: a Qdrant server or cluster, by URL and API key.

The folder holds no vectors, only `engine.json` with the URL and the prefix of its collections' names; the API key is read from
the environment each time. With the URL `local` the client's own small engine stores them in the folder: it answers the same
calls, slowly, and is meant for trials.
"""

from __future__ import annotations

import shutil
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar
from urllib.parse import urlsplit

from mathamr.core.arrays import FloatArray
from mathamr.core.errors import MathAMRError
from mathamr.core.retry import retry
from mathamr.core.settings import QDRANT_API_KEY, QDRANT_URL
from mathamr.index.engines.base import ClientLibrary, EngineBase
from mathamr.index.engines.engine import Capabilities, EngineHead, by_kind, check_number, read_options
from mathamr.index.engines.entry import Entry
from mathamr.index.engines.nearestfield import NearestField
from mathamr.index.engines.qdrant.collection import (
    FIELDS,
    MOST_NEIGHBOURS,
    MOST_NUMBERS,
    PAGE,
    QdrantCollection,
    check_hnsw,
    damage,
    links,
    named_vectors,
    payload_row,
    point_uuid,
)
from mathamr.systems.field import Field, FieldTarget

LIBRARY = ClientLibrary("qdrant_client", "Qdrant", "the Qdrant client", 'pip install "mathamr[qdrant]"')
LOCAL = "local"
PORT = 6333
QUANTISED = ("none", "int8")
DELAYS = (0.2, 1.0, 3.0)
"""Delays in seconds before a request is repeated."""
BUSY = (429, 502, 503, 504)
"""Status codes after which a request is repeated."""

Answer = TypeVar("Answer")
_INDEXES = {
    "kind": "keyword",
    "tags": "keyword",
    "source": "keyword",
    "time": "float",
    "score": "integer",
    FIELDS: "keyword",
}


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
        check_hnsw("qdrant", self.hnsw)
        if self.quantisation not in QUANTISED:
            raise MathAMRError(
                f"the qdrant engine's quantisation is {' or '.join(QUANTISED)}, not {self.quantisation!r}"
            )
        for name, most in (
            ("shards", 4096),
            ("replicas", 256),
            ("consistency", 256),
            ("ef", MOST_NEIGHBOURS),
            ("timeout", 86400),
        ):
            check_number("qdrant engine", name, getattr(self, name), most)
        if len(self.collection) > 200 or any(character in '/\\<>:"|?*\0' for character in self.collection):
            raise MathAMRError(f"{self.collection[:50]!r} cannot be the name of a Qdrant collection")


class ServerCollection(QdrantCollection):
    """One collection of the server."""

    library = LIBRARY

    def __init__(
        self,
        of: FieldTarget,
        fields: tuple[Field, ...],
        client: Any,
        options: ServerOptions,
        *,
        writable: bool,
    ) -> None:
        super().__init__(of, fields, options.ef, writable=writable)
        self._client, self._options = client, options
        self.there = f"{options.collection}-{of}"

    @property
    def _models(self) -> Any:
        from qdrant_client import models

        return models

    def _range(self, **ends: float | None) -> Any:
        return self._models.Range(**ends)

    def _among(self, uuids: set[str]) -> Any:
        return self._models.HasIdCondition(has_id=sorted(uuids))

    def create(self) -> None:
        """Create the collection on the server."""
        models = self._models

        def params(field: Field) -> Any:
            several = models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM)
            graphed = links(self._options.hnsw, field)
            bytes_ = models.ScalarQuantizationConfig(type=models.ScalarType.INT8, always_ram=True)
            quantised = models.ScalarQuantization(scalar=bytes_)
            return models.VectorParams(
                size=field.size,
                distance=models.Distance.DOT,
                multivector_config=several if field.many else None,
                hnsw_config=models.HnswConfigDiff(m=graphed),
                quantization_config=quantised if graphed and self._options.quantisation == "int8" else None,
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

    def find(self) -> None:
        """Raise an error if the collection does not exist."""
        with LIBRARY.reporting(f"find the collection {self.there}"):
            if not self._client.collection_exists(self.there):
                raise MathAMRError(f"the Qdrant server has no collection {self.there}; build the index again")

    def check(self) -> None:
        """Raise an error if the collection is missing or cannot be read."""
        self.find()
        self.count()

    def _put(self, entries: Sequence[Entry]) -> None:
        vectors = named_vectors(entries, self.fields)
        points = [
            self._models.PointStruct(
                id=point_uuid(entry.id),
                vector={name: rows.tolist() for name, rows in own.items()},
                payload=payload_row(entry),
            )
            for entry, own in zip(entries, vectors, strict=True)
        ]
        with self._reporting("store"):
            for batch in _pieces(points, vectors):
                self._request(lambda: self._client.upsert(self.there, batch, wait=True))  # noqa: B023

    def _remove(self, uuids: list[str]) -> None:
        with self._reporting("delete"):
            self._request(lambda: self._client.delete(self.there, uuids, wait=True))

    def _records(self, uuids: list[str], payload: bool | list[str], vectors: bool | list[str]) -> list[Any]:
        found = self._request(
            lambda: self._client.retrieve(self.there, uuids, with_payload=payload, with_vectors=vectors)
        )
        return list(found)

    def _page(self, offset: Any, where: Any) -> tuple[list[Any], Any]:
        records, following = self._request(
            lambda: self._client.scroll(
                self.there,
                limit=PAGE,
                offset=offset,
                scroll_filter=where,
                with_payload=["id"],
                with_vectors=False,
            )
        )
        return records, following

    def _points(self, query: FloatArray, using: str, limit: int, where: Any, parameters: Any) -> list[Any]:
        answer = self._request(
            lambda: self._client.query_points(
                self.there,
                query=query.tolist(),
                using=using,
                limit=limit,
                query_filter=where,
                with_payload=["id"],
                search_params=parameters,
            )
        )
        return list(answer.points)

    def _parameters(self, exact: bool, limit: int) -> Any:
        """Return the search parameters; the client's own engine is always exact and ignores them."""
        if self._options.url == LOCAL:
            return None
        parameters = super()._parameters(exact, limit)
        if self._options.quantisation != "none":
            # The int8 vectors find twice as many candidates as requested, which then get their exact scores.
            parameters.quantization = self._models.QuantizationSearchParams(
                ignore=exact, rescore=True, oversampling=2.0
            )
        return parameters

    def _count(self, where: Any) -> int:
        return int(
            self._request(lambda: self._client.count(self.there, count_filter=where, exact=True)).count
        )

    def _request(self, ask: Callable[[], Answer]) -> Answer:
        """Send a request, and repeat it if the server is unreachable or busy. Every request is idempotent."""
        return retry(ask, DELAYS, _is_temporary)


class ServerEngine(EngineBase[ServerCollection, NearestField]):
    """A collection of a server for every kind of entry; see `Engine`."""

    name: ClassVar[str] = "qdrant"
    capabilities: ClassVar[Capabilities] = Capabilities(approximate=True, concurrent=True, remote=True)

    def __init__(self, folder: Path, *, read_only: bool, new: bool) -> None:
        head = EngineHead.read(folder, self.name)
        self.folder, self._read_only = folder, read_only
        self._options = read_options(ServerOptions, self.name, head.options)
        self._client: Any = _client(folder, self._options, new=new)
        stores = {
            of: ServerCollection(of, own, self._client, self._options, writable=not read_only)
            for of, own in by_kind(head.fields).items()
        }
        readers = {field.name: NearestField(field, stores[field.of]) for field in head.fields}
        super().__init__(head.fields, stores, readers)
        try:
            for collection in stores.values():
                if new:
                    collection.create()
                else:
                    collection.find()
        except BaseException:
            self._client.close()
            raise

    @classmethod
    def create(
        cls, folder: Path, fields: Sequence[Field], options: Mapping[str, Any] | None = None
    ) -> ServerEngine:
        """Make new, empty collections."""
        LIBRARY.check()
        chosen = read_options(ServerOptions, cls.name, options)
        chosen = replace(
            chosen,
            url=chosen.url or QDRANT_URL.value,
            collection=chosen.collection or f"mathamr-{uuid.uuid4().hex[:12]}",
        )
        if not chosen.url:
            raise MathAMRError(
                "no Qdrant server is named; set MATHAMR_QDRANT_URL (and MATHAMR_QDRANT_API_KEY), or the option url"
            )
        head = EngineHead(cls.name, tuple(fields), asdict(chosen))
        head.write(folder)
        try:
            return cls(folder, read_only=False, new=True)
        except MathAMRError:
            head.remove(folder)
            raise

    @classmethod
    def open(cls, folder: Path, *, read_only: bool = False) -> ServerEngine:
        """Return the collections that a folder names."""
        LIBRARY.check()
        return cls(folder, read_only=read_only, new=False)

    def flush(self) -> None:
        """Do nothing: the server has acknowledged every write."""

    def optimize(self) -> None:
        """Do nothing: the server optimizes by itself."""

    def verify(self) -> list[str]:
        """Return messages about collections that are missing or cannot be read."""
        return damage(self.stores.values())

    def close(self) -> None:
        """End the connection."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def destroy(self) -> None:
        """Delete all collections on the server."""
        if self._read_only:
            raise MathAMRError("the engine was opened for reading only")
        EngineHead.remove(self.folder)
        for collection in self.stores.values():
            with LIBRARY.reporting(f"delete the collection {collection.there}"):
                self._client.delete_collection(collection.there)
        self.close()
        if self._options.url == LOCAL:
            shutil.rmtree(self.folder / LOCAL)


def _is_temporary(error: Exception) -> bool:
    """Return True if a request may succeed later: the server was unreachable, is busy, or changes its leader."""
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

    if isinstance(error, UnexpectedResponse):
        return error.status_code in BUSY
    return isinstance(error, ResponseHandlingException | ConnectionError | TimeoutError)


def _pieces(points: Sequence[Any], vectors: Sequence[Mapping[str, FloatArray]]) -> Iterator[list[Any]]:
    """Group points into requests of a size that a server accepts: fewer points if they have many components."""
    piece: list[Any] = []
    numbers = 0
    for point, own in zip(points, vectors, strict=True):
        size = sum(rows.size for rows in own.values())
        if piece and numbers + size > MOST_NUMBERS:
            yield piece
            piece, numbers = [], 0
        piece.append(point)
        numbers += size
    if piece:
        yield piece


def origin(url: str) -> tuple[str, str, int] | None:
    """Scheme, host and port of a server, to which an API key belongs."""
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        return (parts.scheme, parts.hostname, parts.port or PORT) if parts.hostname else None
    except ValueError:
        return None


def _client(folder: Path, options: ServerOptions, *, new: bool) -> Any:
    import qdrant_client

    ours = options.url != LOCAL and origin(options.url) in {origin(QDRANT_URL.value)} - {None}
    if not (new or ours or options.url == LOCAL):
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
