"""`BuildPool`: the processes of a build. The same work runs in this process, in a pool of this machine, or on a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any

from mathamr.core.closing import Closing
from mathamr.core.registry import Registry
from mathamr.core.workers import Lost, Pool, Work, WorkerPool, WorkLimits

FEW = 64
"""Up to this many posts are done in this process: starting workers would take longer."""
READING = "mathamr.index.indexing.reading:ReadingWork"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOptions:
    """The cluster that builds an index; the address ``local`` means this machine's processors."""

    address: str
    workers: int | None = None
    """Total number of workers; by default one per processor of the cluster."""
    device: str = "cpu"
    name: str = "ray"
    """The kind of cluster, a name in `CLUSTERS`."""


@dataclass(slots=True)
class ClusterCounts:
    """Counts of a cluster's work."""

    made: int = 0
    """Requests that were answered."""
    lost_workers: int = 0
    """Workers lost over requests that could not be answered."""
    seconds: float = 0.0
    """Total busy seconds of all workers."""
    nodes: dict[str, int] = field(default_factory=dict)
    """Answered requests by machine."""


class BuildPool(Closing):
    """Processes of this machine, started when there is enough to do; a context manager."""

    device = "cpu"
    """The device on which workers encode."""
    is_here = True
    """True if the workers that encode are processes of this machine; those that read always are."""
    cluster_counts: ClusterCounts | None = None
    """The work of the cluster, if there is one."""

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers
        """Processes on this machine."""

    @property
    def is_alone(self) -> bool:
        """True if all work is done in this process."""
        return self.workers < 2

    def workers_for(
        self, factory: str, arguments: Sequence[Any] = (), *, allowance: WorkLimits | None = None
    ) -> Pool:
        """Return workers of one kind, as `WorkerPool` starts them."""
        return WorkerPool(factory, arguments, workers=self.workers, allowance=allowance)

    def map(self, requests: Iterable[Any], *, inline: bool = False) -> Iterator[tuple[Any, Any | Lost]]:
        """Yield (request, answer) of the reading work, in order; `inline` does it in this process."""
        if self.is_alone or inline:
            for request in requests:
                yield request, self._here(request)
        else:
            yield from self._readers.map(requests)

    @cached_property
    def _here(self) -> Work:
        module, _, name = READING.partition(":")  # it needs this module itself
        made: Work = getattr(import_module(module), name)()
        return made

    @cached_property
    def _readers(self) -> Pool:
        return WorkerPool(READING, workers=self.workers)

    def close(self) -> None:
        """End the workers."""
        self.dismiss()

    def dismiss(self) -> None:
        """End the readers; later work starts new ones."""
        pool = self.__dict__.pop("_readers", None)
        if pool is not None:
            pool.close()


CLUSTERS: Registry[type[BuildPool]] = Registry(
    "cluster", {"ray": "mathamr.index.indexing.cluster.clusterpool:ClusterPool"}, group="mathamr.clusters"
)
"""Clusters that can build an index; another package adds one through the entry-point group ``mathamr.clusters``."""
