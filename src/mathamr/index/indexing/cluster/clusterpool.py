"""`ClusterPool`: the worker pool of a build on the machines of a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from mathamr.core.workers import Lost, Pool, WorkLimits, processors
from mathamr.index.indexing.buildpool import BuildPool
from mathamr.index.indexing.cluster.clusters import ClusterOptions
from mathamr.index.indexing.cluster.clusterworker import WorkSpec
from mathamr.index.indexing.cluster.raycluster import RayCluster
from mathamr.systems.models import box
from mathamr.text.backend import FLOAT, chosen_backend


class ClusterPool(BuildPool):
    """Workers on many machines that encode; this machine reads. Requests carry everything that workers need, for they share no files."""

    is_here = False

    def __init__(self, options: ClusterOptions) -> None:
        super().__init__(processors())
        uses_gpus = chosen_backend(options.device) == FLOAT
        self.device = "cuda" if uses_gpus else "cpu"
        self.cluster = RayCluster(options.address, workers=options.workers, gpus=uses_gpus)
        self.cluster_counts = self.cluster.counts

    @property
    def is_alone(self) -> bool:
        """False: the cluster does the work."""
        return False

    def workers_for(
        self, factory: str, arguments: Sequence[Any] = (), *, allowance: WorkLimits | None = None
    ) -> Pool:
        """Return a pool for one kind of work on the cluster."""
        if self.device != "cpu" and allowance is not None:
            # A GPU's memory is mapped into the address space, so a limit on addresses cannot be used.
            allowance = WorkLimits(allowance.timeout, allowance.processor)
        work = WorkSpec(factory=factory, arguments=tuple(map(_portable, arguments)), allowance=allowance)
        return _WorkPool(self.cluster, work)

    def close(self) -> None:
        """End the workers and disconnect from the cluster."""
        super().close()
        self.cluster.close()


class _WorkPool:
    """One kind of work, done by the workers of a cluster."""

    def __init__(self, cluster: RayCluster, work: WorkSpec) -> None:
        self._cluster = cluster
        self.identity = cluster.identity(work)
        self._work = work.saying(self.identity)

    def map(self, requests: Iterable[Any]) -> Iterator[tuple[Any, Any | Lost]]:
        """(request, answer) in the order of the requests."""
        return self._cluster.map(self._work, requests)

    def close(self) -> None:
        """Nothing to do: the workers stay for the next work."""


def _portable(argument: Any) -> Any:
    """Replace the path of a built-in model by its name, since the package may be installed elsewhere on other machines."""
    is_boxed = isinstance(argument, str) and Path(argument).parent == box()
    return Path(argument).name if is_boxed else argument
