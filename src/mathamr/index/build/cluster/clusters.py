"""Clusters that can build an index: the registry, their options and what they report.

A cluster is a `BuildPool` that another package may provide, under the entry-point group ``mathamr.clusters``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mathamr.core.registry import Registry

if TYPE_CHECKING:
    from mathamr.index.build.buildpool import BuildPool

CLUSTERS: Registry[type[BuildPool]] = Registry(
    "cluster", {"ray": "mathamr.index.build.cluster.clusterpool:ClusterPool"}, group="mathamr.clusters"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOptions:
    """Which cluster builds an index (address ``local``: this machine's processors), and where its shards are kept."""

    address: str
    shards: str
    workers: int | None = None
    """Workers in all; by default one for each processor of the cluster."""
    device: str = "cpu"
    name: str = "ray"
    """The kind of cluster, a name in `CLUSTERS`."""


@dataclass(slots=True)
class ClusterCounts:
    """What a cluster did."""

    made: int = 0
    found: int = 0
    """Shards that an earlier run had made."""
    damaged: int = 0
    lost_workers: int = 0
    started_workers: int = 0
    repeated: int = 0
    """Requests that were given to another worker."""
    seconds: float = 0.0
    """Seconds that workers were at work, all together."""
    nodes: dict[str, int] = field(default_factory=dict)
    """Shards by machine."""
