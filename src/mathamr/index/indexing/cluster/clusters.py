"""Clusters that can build an index: the registry, their options and what they report.

A cluster is a `BuildPool` that another package may provide, under the entry-point group ``mathamr.clusters``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mathamr.core.registry import Registry

if TYPE_CHECKING:
    from mathamr.index.indexing.buildpool import BuildPool

CLUSTERS: Registry[type[BuildPool]] = Registry(
    "cluster", {"ray": "mathamr.index.indexing.cluster.clusterpool:ClusterPool"}, group="mathamr.clusters"
)


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
    started_workers: int = 0
    repeated: int = 0
    """Requests that were reassigned to another worker."""
    seconds: float = 0.0
    """Total busy seconds of all workers."""
    nodes: dict[str, int] = field(default_factory=dict)
    """Answered requests by machine."""
