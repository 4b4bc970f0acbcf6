"""The engine `edge`: Qdrant's own engine inside this process, a shard for every kind of entry.

One process at a time has it open. Every search is exact until `optimize` has built graphs (HNSW); which fields get
one is an option, since over fields with many rows it takes minutes for ten thousand posts.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from mathamr.core.arrays import FloatArray
from mathamr.core.errors import MathAMRError
from mathamr.core.storage.durable import check_room
from mathamr.core.storage.writerlock import WriterLock
from mathamr.index.engines.base import ClientLibrary, EngineBase
from mathamr.index.engines.engine import Capabilities, EngineHead, by_kind, check_number, read_options
from mathamr.index.engines.entry import Entry
from mathamr.index.engines.nearestfield import NearestField
from mathamr.index.engines.qdrant.collection import (
    MOST_NEIGHBOURS,
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

LIBRARY = ClientLibrary("qdrant_edge", "Qdrant Edge", "Qdrant Edge", 'pip install "mathamr[qdrant-edge]"')
MOST_SCANNED = 20_000
"""Up to this number, points that pass a filter are scanned, which takes some milliseconds."""
_RESERVE = 128 << 20
"""Bytes that must stay free on the disk, since Edge allocates its files in pages of 32 MB."""


@dataclass(frozen=True, slots=True)
class EdgeOptions:
    """Which graphs `optimize` builds, and how many neighbours an approximate search follows."""

    hnsw: str = "single"
    """`single`: a graph over fields with one row per entry; `all`: over those with many as well; `none`."""
    ef: int = 128
    """Number of neighbours that an approximate search follows (the thesis: 128)."""

    def __post_init__(self) -> None:
        check_hnsw("edge", self.hnsw)
        check_number("edge engine", "ef", self.ef, MOST_NEIGHBOURS)


class EdgeCollection(QdrantCollection):
    """One shard."""

    library = LIBRARY

    def __init__(
        self,
        folder: Path,
        of: FieldTarget,
        fields: tuple[Field, ...],
        shard: Any,
        options: EdgeOptions,
        *,
        writable: bool,
    ) -> None:
        super().__init__(of, fields, options.ef, writable=writable)
        self.folder, self.shard = folder, shard

    @property
    def _models(self) -> Any:
        import qdrant_edge

        return qdrant_edge

    def _range(self, **ends: float | None) -> Any:
        return self._models.RangeFloat(**ends)

    def _among(self, uuids: set[str]) -> Any:
        return self._models.HasIdCondition({*uuids})

    def _put(self, entries: Sequence[Entry]) -> None:
        edge = self._models
        numbers = sum(rows.vectors.size for entry in entries for rows in entry.rows.values())
        check_room(self.folder, _RESERVE + 16 * numbers)
        vectors = named_vectors(entries, self.fields)
        points = [
            edge.Point(point_uuid(entry.id), own, payload_row(entry))
            for entry, own in zip(entries, vectors, strict=True)
        ]
        with self._reporting("store"):
            self.shard.update(edge.UpdateOperation.upsert_points(points))

    def _remove(self, uuids: list[str]) -> None:
        with self._reporting("delete"):
            self.shard.update(self._models.UpdateOperation.delete_points([*uuids]))

    def _records(self, uuids: list[str], payload: bool | list[str], vectors: bool | list[str]) -> list[Any]:
        return list(self.shard.retrieve(uuids, with_payload=payload, with_vector=vectors))

    def _page(self, offset: Any, where: Any) -> tuple[list[Any], Any]:
        request = self._models.ScrollRequest(
            offset=offset, limit=PAGE, filter=where, with_payload=["id"], with_vector=False
        )
        records, following = self.shard.scroll(request)
        return records, following

    def _points(self, query: FloatArray, using: str, limit: int, where: Any, parameters: Any) -> list[Any]:
        edge = self._models
        request = edge.QueryRequest(
            limit=limit,
            query=edge.Query.Nearest(query, using=using),
            filter=where,
            with_payload=["id"],
            params=parameters,
        )
        return list(self.shard.query(request))

    def _scans(self, narrowed: Any) -> bool:
        """Edge's graph has no links for filters: if few points pass, a walk through it ends before it reaches them."""
        return self._count(narrowed) <= MOST_SCANNED

    def _count(self, where: Any) -> int:
        return int(self.shard.count(self._models.CountRequest(exact=True, filter=where)))

    def check(self) -> None:
        """Raise an error if not every point can be listed."""
        counted, listed = self.count(), sum(1 for _ in self.ids())
        if counted != listed:
            raise MathAMRError(f"{self.of}: {counted} points, but {listed} can be listed")


class EdgeEngine(EngineBase[EdgeCollection, NearestField]):
    """A shard per kind in a folder; see `Engine`."""

    name: ClassVar[str] = "edge"
    capabilities: ClassVar[Capabilities] = Capabilities(approximate=True, concurrent=False, remote=False)

    def __init__(self, folder: Path, *, read_only: bool) -> None:
        head = EngineHead.read(folder, self.name)
        self.folder, self._read_only = folder, read_only
        self._options = read_options(EdgeOptions, self.name, head.options)
        self._lock: WriterLock | None = WriterLock(
            folder, "edge engine, which one process at a time can open"
        )
        stores: dict[FieldTarget, EdgeCollection] = {}
        try:
            for of, own in by_kind(head.fields).items():
                shard = _shard(folder / of, own, self._options)
                stores[of] = EdgeCollection(
                    folder / of, of, own, shard, self._options, writable=not read_only
                )
        except BaseException:
            for collection in stores.values():
                collection.shard.close()
            self._lock.release()
            raise
        readers = {field.name: NearestField(field, stores[field.of]) for field in head.fields}
        super().__init__(head.fields, stores, readers)

    @classmethod
    def create(
        cls, folder: Path, fields: Sequence[Field], options: Mapping[str, Any] | None = None
    ) -> EdgeEngine:
        """Return a new, empty engine."""
        LIBRARY.check()
        chosen = read_options(EdgeOptions, cls.name, options)
        EngineHead(cls.name, tuple(fields), asdict(chosen)).write(folder)
        return cls(folder, read_only=False)

    @classmethod
    def open(cls, folder: Path, *, read_only: bool = False) -> EdgeEngine:
        """Open the engine in a folder; only one process at a time can, even for reading."""
        LIBRARY.check()
        return cls(folder, read_only=read_only)

    def flush(self) -> None:
        """Make everything written so far survive a crash."""
        if self._lock is None or self._read_only:
            return
        for collection in self.stores.values():
            with LIBRARY.reporting(f"write {collection.of} to disk"):
                collection.shard.flush()

    def optimize(self) -> None:
        """Merge segments and build the graphs of approximate search."""
        if self._lock is None or self._read_only:
            return
        for collection in self.stores.values():
            taken = sum(
                path.stat().st_blocks * 512 for path in collection.folder.rglob("*") if path.is_file()
            )
            check_room(collection.folder, _RESERVE + 2 * taken)
            with LIBRARY.reporting(f"optimize {collection.of}"):
                collection.shard.optimize()
        self.flush()

    def verify(self) -> list[str]:
        """Return messages about shards that cannot be read."""
        return damage(self.stores.values())

    def close(self) -> None:
        """Flush and release the lock."""
        if self._lock is None:
            return
        try:
            self.flush()
        finally:
            for collection in self.stores.values():
                collection.shard.close()
            self._lock.release()
            self._lock = None

    def destroy(self) -> None:
        """Remove all shards."""
        if self._read_only:
            raise MathAMRError("the engine was opened for reading only")
        EngineHead.remove(self.folder)
        self.close()
        for collection in self.stores.values():
            shutil.rmtree(collection.folder)


def _shard(folder: Path, fields: Sequence[Field], options: EdgeOptions) -> Any:
    """Open the shard in a folder; create it if it is missing or its creation was interrupted."""
    import qdrant_edge as edge

    def params(field: Field) -> Any:
        graph = edge.HnswIndexConfig(m=links(options.hnsw, field), ef_construct=128, full_scan_threshold=1)
        several = edge.MultiVectorConfig(edge.MultiVectorComparator.MaxSim) if field.many else None
        return edge.EdgeVectorParams(
            size=field.size,
            distance=edge.Distance.Dot,
            multivector_config=several,
            hnsw_config=graph,
        )

    with LIBRARY.reporting(f"open {folder}"):
        check_room(folder.parent, _RESERVE)
        if (folder / "edge_config.json").exists():
            return edge.EdgeShard.load(str(folder))
        folder.mkdir(exist_ok=True)
        vectors = {field.name: params(field) for field in fields}
        optimizers = edge.EdgeOptimizersConfig(default_segment_number=1, indexing_threshold=1)
        return edge.EdgeShard.create(str(folder), edge.EdgeConfig(vectors=vectors, optimizers=optimizers))
