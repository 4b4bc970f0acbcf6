"""The engine `edge`: Qdrant's own engine inside this process, a shard for posts and one for formulas.

One process at a time has it open. Every search is exact until `optimize` has built graphs (HNSW); which vectors get
one is an option, since over the many vectors of posts it takes minutes for ten thousand posts.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from mathamr.errors import MathAMRError, MissingExtraError
from mathamr.index.durable import check_room
from mathamr.index.engine import Capabilities, EngineHead, read_options
from mathamr.index.lock import WriterLock
from mathamr.index.point import Filter, Floats, Point
from mathamr.index.qdrant.collection import ALL, DOC, QdrantCollection, conditions, payload_row, point_uuid

_RESERVE = 128 << 20
"""Bytes that must be free on the disk beside what is written: Edge makes its files in pages of 32 MB."""


@dataclass(frozen=True, slots=True)
class EdgeOptions:
    """What `optimize` prepares for approximate search, and how closely it looks."""

    hnsw: str = "doc"
    """`doc`: a graph over the document and formula vectors; `all`: over all vectors of posts as well; `none`."""
    ef: int = 128
    """Neighbours that an approximate search follows (the thesis: 128)."""

    def __post_init__(self) -> None:
        if self.hnsw not in ("doc", "all", "none"):
            raise MathAMRError(f"the edge engine's hnsw is doc, all or none, not {self.hnsw!r}")
        if not 1 <= int(self.ef) <= 65536:
            raise MathAMRError(f"the edge engine's ef is from 1 to 65,536, not {self.ef}")


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Qdrant Edge raises bare exceptions, and panics that are no `Exception`: both become a clear error."""
    try:
        yield
    except MathAMRError:
        raise
    except BaseException as error:
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            raise MathAMRError(f"Qdrant Edge cannot {what}: {str(error)[:500]}") from error
        raise


class EdgeCollection(QdrantCollection):
    """One shard; see `Collection`."""

    def __init__(self, folder: Path, size: int, shard: Any, options: EdgeOptions, *, writable: bool) -> None:
        super().__init__(folder.name, size, writable=writable)
        self.folder, self.shard, self._options = folder, shard, options

    def _put(self, points: Sequence[Point]) -> None:
        import qdrant_edge as edge

        numbers = sum(
            len(point.vector) + (0 if point.vectors is None else point.vectors.size) for point in points
        )
        check_room(self.folder, _RESERVE + 16 * numbers)

        def vectors(point: Point) -> dict[str, Any]:
            return {DOC: point.vector} | ({ALL: point.vectors} if self.multiple else {})

        rows = [
            edge.Point(point_uuid(point.id), vectors(point), payload_row(point.id, point.payload))
            for point in points
        ]
        with _told(f"store {self.name}"):
            self.shard.update(edge.UpdateOperation.upsert_points(rows))

    def _remove(self, uuids: list[str]) -> None:
        import qdrant_edge as edge

        with _told(f"delete {self.name}"):
            self.shard.update(edge.UpdateOperation.delete_points([*uuids]))

    def count(self) -> int:
        """How many points there are."""
        import qdrant_edge as edge

        with _told(f"count {self.name}"):
            return int(self.shard.count(edge.CountRequest(exact=True)))

    def ids(self) -> Iterator[str]:
        """The ids of all points."""
        import qdrant_edge as edge

        offset = None
        while True:
            with _told(f"list {self.name}"):
                request = edge.ScrollRequest(
                    offset=offset, limit=4096, with_payload=["id"], with_vector=False
                )
                records, offset = self.shard.scroll(request)
            for record in records:
                yield record.payload["id"]
            if offset is None:
                return

    def _retrieve(self, uuids: list[str], vectors: str | None) -> Iterator[tuple[dict[str, Any], Any]]:
        with _told(f"read {self.name}"):
            records = self.shard.retrieve(
                uuids,
                with_payload=True if vectors is None else ["id"],
                with_vector=[vectors] if vectors else False,
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
        import qdrant_edge as edge

        vectors: Any = query
        wanted = conditions(where, edge, edge.RangeFloat) if where else []
        if among is not None:
            wanted.append(edge.HasIdCondition({*among}))
        with _told(f"search {self.name}"):
            request = edge.QueryRequest(
                limit=limit,
                query=edge.Query.Nearest(vectors, using=using),
                filter=edge.Filter(must=wanted) if wanted else None,
                with_payload=["id"],
                params=edge.SearchParams(
                    exact=exact, hnsw_ef=None if exact else max(self._options.ef, limit)
                ),
            )
            return [(point.payload["id"], point.score) for point in self.shard.query(request)]


class EdgeEngine:
    """Two shards in a folder; see `Engine`."""

    name: ClassVar[str] = "edge"
    capabilities: ClassVar[Capabilities] = Capabilities(approximate=True, concurrent=False, remote=False)

    def __init__(self, folder: Path, *, read_only: bool) -> None:
        head = EngineHead.read(folder, self.name)
        self.folder, self.size, self._read_only = folder, head.size, read_only
        self._options = read_options(EdgeOptions, self.name, head.options)
        self._lock: WriterLock | None = WriterLock(
            folder, "edge engine, which one process at a time can open"
        )
        opened: list[Any] = []
        try:
            for name in ("posts", "formulas"):
                opened.append(_shard(folder / name, self.size, self._options, multiple=name == "posts"))
        except BaseException:
            for shard in opened:
                shard.close()
            self._lock.release()
            raise
        self.posts, self.formulas = (
            EdgeCollection(folder / name, self.size, shard, self._options, writable=not read_only)
            for name, shard in zip(("posts", "formulas"), opened, strict=True)
        )

    @classmethod
    def create(cls, folder: Path, size: int, options: Mapping[str, Any] | None = None) -> EdgeEngine:
        """A new, empty engine."""
        _library()
        EngineHead(cls.name, size, asdict(read_options(EdgeOptions, cls.name, options))).write(folder)
        return cls(folder, read_only=False)

    @classmethod
    def open(cls, folder: Path, *, read_only: bool = False) -> EdgeEngine:
        """The engine in a folder, also for reading alone in this process."""
        _library()
        return cls(folder, read_only=read_only)

    def flush(self) -> None:
        """Makes everything written so far survive a crash."""
        if self._lock is None or self._read_only:
            return
        for collection in (self.posts, self.formulas):
            with _told(f"write {collection.name} to disk"):
                collection.shard.flush()

    def optimize(self) -> None:
        """Merges segments and builds the graphs of approximate search."""
        if self._lock is None or self._read_only:
            return
        for collection in (self.posts, self.formulas):
            taken = sum(
                path.stat().st_blocks * 512 for path in collection.folder.rglob("*") if path.is_file()
            )
            check_room(collection.folder, _RESERVE + 2 * taken)
            with _told(f"optimize {collection.name}"):
                collection.shard.optimize()
        self.flush()

    def verify(self) -> list[str]:
        """What cannot be read."""
        damaged = []
        for collection in (self.posts, self.formulas):
            try:
                counted, listed = collection.count(), sum(1 for _ in collection.ids())
                if counted != listed:
                    damaged.append(f"{collection.name}: {counted} points, but {listed} can be listed")
            except MathAMRError as error:
                damaged.append(str(error))
        return damaged

    def close(self) -> None:
        """Flushes and lets the next process in."""
        if self._lock is None:
            return
        try:
            self.flush()
        finally:
            for collection in (self.posts, self.formulas):
                collection.shard.close()
            self._lock.release()
            self._lock = None

    def drop(self) -> None:
        """Removes both shards."""
        self.posts._check_writable()
        EngineHead.remove(self.folder)
        self.close()
        for collection in (self.posts, self.formulas):
            shutil.rmtree(collection.folder)


def _library() -> None:
    try:
        import qdrant_edge  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("Qdrant Edge", "pip install qdrant-edge-py") from error


def _shard(folder: Path, size: int, options: EdgeOptions, *, multiple: bool) -> Any:
    """The shard in a folder, made when it is not there; one whose making was interrupted is made anew."""
    import qdrant_edge as edge

    def graph(wanted: bool) -> Any:
        return edge.HnswIndexConfig(m=16 if wanted else 0, ef_construct=128, full_scan_threshold=1)

    with _told(f"open {folder}"):
        check_room(folder.parent, _RESERVE)
        if (folder / "edge_config.json").exists():
            return edge.EdgeShard.load(str(folder))
        folder.mkdir(exist_ok=True)
        vectors = {
            DOC: edge.EdgeVectorParams(
                size=size, distance=edge.Distance.Dot, hnsw_config=graph(options.hnsw != "none")
            )
        }
        if multiple:
            vectors[ALL] = edge.EdgeVectorParams(
                size=size,
                distance=edge.Distance.Dot,
                multivector_config=edge.MultiVectorConfig(edge.MultiVectorComparator.MaxSim),
                hnsw_config=graph(options.hnsw == "all"),
            )
        optimizers = edge.EdgeOptimizersConfig(default_segment_number=1, indexing_threshold=1)
        return edge.EdgeShard.create(str(folder), edge.EdgeConfig(vectors=vectors, optimizers=optimizers))
