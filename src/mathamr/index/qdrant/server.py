"""The engine `qdrant`: a Qdrant server or cluster, by URL and API key.

The folder holds no vectors, only `engine.json` with the URL and the names of the two collections; the API key is read
from the environment each time. With the URL `local` the client's own small engine keeps them in the folder: it
answers the same calls, slowly, and is meant for trying out.
"""

from __future__ import annotations

import shutil
import uuid
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from mathamr.errors import MathAMRError, MissingExtraError
from mathamr.index.engine import Capabilities, EngineHead, read_options
from mathamr.index.point import Filter, Floats, Point
from mathamr.index.qdrant.collection import ALL, DOC, QdrantCollection, conditions, payload_row, point_uuid
from mathamr.settings import QDRANT_API_KEY, QDRANT_URL

LOCAL = "local"
_INDEXES = {"kind": "keyword", "tags": "keyword", "source": "keyword", "time": "float", "score": "integer"}


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Where the server is and how its collections are made."""

    url: str = ""
    """Like ``http://localhost:6333``; by default what MATHAMR_QDRANT_URL says. `local`: no server, for trying out."""
    collection: str = ""
    """What the names of the two collections begin with; by default a new name."""
    shards: int = 1
    """Parts into which a collection is cut, over the machines of a cluster."""
    replicas: int = 1
    """How many machines keep a copy of each part."""
    hnsw: str = "all"
    """`doc`: a graph over the document and formula vectors; `all`: over all vectors of posts as well; `none`."""
    ef: int = 128
    """Neighbours that an approximate search follows (the thesis: 128)."""
    timeout: int = 60
    """Seconds to wait for an answer of the server."""

    def __post_init__(self) -> None:
        if self.hnsw not in ("doc", "all", "none"):
            raise MathAMRError(f"the qdrant engine's hnsw is doc, all or none, not {self.hnsw!r}")
        for name, most in (("shards", 4096), ("replicas", 256), ("ef", 65536), ("timeout", 86400)):
            if not 1 <= int(getattr(self, name)) <= most:
                raise MathAMRError(
                    f"the qdrant engine's {name} is from 1 to {most:,}, not {getattr(self, name)}"
                )
        if len(self.collection) > 200 or any(character in '/\\<>:"|?*\0' for character in self.collection):
            raise MathAMRError(f"{self.collection[:50]!r} cannot be the name of a Qdrant collection")


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Whatever the client or the server has to complain about, as a clear error."""
    try:
        yield
    except MathAMRError:
        raise
    except Exception as error:
        raise MathAMRError(f"Qdrant cannot {what}: {str(error)[:500] or type(error).__name__}") from error


class ServerCollection(QdrantCollection):
    """One collection of the server; see `Collection`."""

    def __init__(self, name: str, size: int, client: Any, options: ServerOptions, *, writable: bool) -> None:
        super().__init__(name, size, writable=writable)
        self._client, self._options = client, options
        self.there = f"{options.collection}-{name}"

    def create(self) -> None:
        """Makes the collection on the server."""
        from qdrant_client import models

        def params(wanted: bool, several: bool) -> Any:
            multiple = models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM)
            return models.VectorParams(
                size=self.size,
                distance=models.Distance.DOT,
                multivector_config=multiple if several else None,
                hnsw_config=models.HnswConfigDiff(m=16 if wanted else 0),
            )

        vectors = {DOC: params(self._options.hnsw != "none", False)}
        if self.multiple:
            vectors[ALL] = params(self._options.hnsw == "all", True)
        with _told(f"make the collection {self.there}"):
            if self._client.collection_exists(self.there):
                raise MathAMRError(
                    f"the Qdrant server has a collection {self.there} already; choose another name"
                )
            self._client.create_collection(
                self.there,
                vectors_config=vectors,
                shard_number=self._options.shards,
                replication_factor=self._options.replicas,
            )
            if self._options.url != LOCAL:
                for field, schema in _INDEXES.items():
                    self._client.create_payload_index(self.there, field, schema)

    def check(self) -> None:
        """Whether the collection is still there."""
        with _told(f"find the collection {self.there}"):
            if not self._client.collection_exists(self.there):
                raise MathAMRError(f"the Qdrant server has no collection {self.there}; build the index again")

    def _put(self, points: Sequence[Point]) -> None:
        from qdrant_client import models

        rows = [
            models.PointStruct(
                id=point_uuid(point.id),
                vector={DOC: point.vector.tolist()}
                | ({ALL: point.vectors.tolist()} if point.vectors is not None else {}),
                payload=payload_row(point.id, point.payload),
            )
            for point in points
        ]
        with _told(f"store {self.name}"):
            self._client.upsert(self.there, rows, wait=True)

    def _remove(self, uuids: list[str]) -> None:
        with _told(f"delete {self.name}"):
            self._client.delete(self.there, uuids, wait=True)

    def count(self) -> int:
        """How many points there are."""
        with _told(f"count {self.name}"):
            return int(self._client.count(self.there, exact=True).count)

    def ids(self) -> Iterator[str]:
        """The ids of all points."""
        offset = None
        while True:
            with _told(f"list {self.name}"):
                records, offset = self._client.scroll(
                    self.there, limit=4096, offset=offset, with_payload=["id"], with_vectors=False
                )
            for record in records:
                yield record.payload["id"]
            if offset is None:
                return

    def _retrieve(self, uuids: list[str], vectors: str | None) -> Iterator[tuple[dict[str, Any], Any]]:
        with _told(f"read {self.name}"):
            records = self._client.retrieve(
                self.there,
                uuids,
                with_payload=True if vectors is None else ["id"],
                with_vectors=[vectors] if vectors else False,
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
        from qdrant_client import models

        wanted = conditions(where, models, models.Range) if where else []
        if among is not None:
            wanted.append(models.HasIdCondition(has_id=sorted(among)))
        with _told(f"search {self.name}"):
            answer = self._client.query_points(
                self.there,
                query=query.tolist(),
                using=using,
                limit=limit,
                query_filter=models.Filter(must=wanted) if wanted else None,
                with_payload=["id"],
                search_params=self._parameters(exact, limit),
            )
        return [(point.payload["id"], point.score) for point in answer.points]

    def _parameters(self, exact: bool, limit: int) -> Any:
        """How closely to search; the client's own engine is always exact and takes no advice."""
        from qdrant_client import models

        if self._options.url == LOCAL:
            return None
        return models.SearchParams(exact=exact, hnsw_ef=None if exact else max(self._options.ef, limit))


class ServerEngine:
    """Two collections of a server; see `Engine`."""

    name: ClassVar[str] = "qdrant"
    capabilities: ClassVar[Capabilities] = Capabilities(approximate=True, concurrent=True, remote=True)

    def __init__(self, folder: Path, *, read_only: bool, new: bool) -> None:
        head = EngineHead.read(folder, self.name)
        self.folder, self.size = folder, head.size
        self._options = read_options(ServerOptions, self.name, head.options)
        self._client: Any = _client(folder, self._options)
        self.posts, self.formulas = (
            ServerCollection(name, self.size, self._client, self._options, writable=not read_only)
            for name in ("posts", "formulas")
        )
        try:
            for collection in (self.posts, self.formulas):
                if new:
                    collection.create()
                else:
                    collection.check()
        except BaseException:
            self._client.close()
            raise

    @classmethod
    def create(cls, folder: Path, size: int, options: Mapping[str, Any] | None = None) -> ServerEngine:
        """New, empty collections."""
        _library()
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
        head = EngineHead(cls.name, size, asdict(chosen))
        head.write(folder)
        try:
            return cls(folder, read_only=False, new=True)
        except MathAMRError:
            head.remove(folder)
            raise

    @classmethod
    def open(cls, folder: Path, *, read_only: bool = False) -> ServerEngine:
        """The collections that a folder names."""
        _library()
        return cls(folder, read_only=read_only, new=False)

    def flush(self) -> None:
        """Nothing is left to do: the server has acknowledged every write."""

    def optimize(self) -> None:
        """Nothing is left to do: the server optimizes by itself."""

    def verify(self) -> list[str]:
        """Collections that are missing or cannot be read."""
        damaged = []
        for collection in (self.posts, self.formulas):
            try:
                collection.check()
                collection.count()
            except MathAMRError as error:
                damaged.append(str(error))
        return damaged

    def close(self) -> None:
        """Ends the connection."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def drop(self) -> None:
        """Deletes both collections on the server."""
        self.posts._check_writable()
        EngineHead.remove(self.folder)
        for collection in (self.posts, self.formulas):
            with _told(f"delete the collection {collection.there}"):
                self._client.delete_collection(collection.there)
        self.close()
        if self._options.url == LOCAL:
            shutil.rmtree(self.folder / LOCAL)


def _library() -> None:
    try:
        import qdrant_client  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("the Qdrant client", 'pip install "mathamr[qdrant]"') from error


def _client(folder: Path, options: ServerOptions) -> Any:
    import qdrant_client

    with _told(f"open {options.url}"), warnings.catch_warnings():
        # An API key over plain http to one's own machine is the user's choice.
        warnings.simplefilter("ignore", UserWarning)
        if options.url == LOCAL:
            return qdrant_client.QdrantClient(path=str(folder / LOCAL), force_disable_check_same_thread=True)
        return qdrant_client.QdrantClient(
            url=options.url,
            api_key=QDRANT_API_KEY.value or None,
            timeout=options.timeout,
            check_compatibility=False,
        )
