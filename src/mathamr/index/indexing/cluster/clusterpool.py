"""`ClusterPool`: the worker pool of a build on the machines of a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from mathamr.core.settings import TEXT, VECTORS
from mathamr.core.workers import Allowance, Lost, Pool, processors
from mathamr.index.indexing.buildpool import BuildPool
from mathamr.index.indexing.cluster.clusters import ClusterOptions
from mathamr.index.indexing.cluster.raycluster import RayCluster
from mathamr.index.indexing.cluster.workspec import WorkSpec
from mathamr.systems.models import box
from mathamr.text.backend import FLOAT, chosen_backend


class ClusterPool(BuildPool):
    """Workers on many machines. They cannot read the index folder, so requests carry everything that they need."""

    portion = 8
    has_index = False

    def __init__(self, options: ClusterOptions) -> None:
        super().__init__(processors())
        self._options = options
        uses_gpus = chosen_backend(options.device) == FLOAT
        self.device = "cuda" if uses_gpus else "cpu"
        self.cluster = RayCluster(options.address, options.shards, workers=options.workers, gpus=uses_gpus)
        self.cluster_counts = self.cluster.counts

    @property
    def is_alone(self) -> bool:
        """False: the cluster does the work."""
        return False

    @cached_property
    def scale(self) -> int:  # type: ignore[override]
        """The factor for the size of batches, such that no worker idles while the last posts of a batch are processed."""
        return max(1, self.cluster.wanted)

    def workers_for(
        self,
        factory: str,
        arguments: Sequence[Any] = (),
        *,
        allowance: Allowance | None = None,
        made_with: str = "",
    ) -> Pool:
        """A pool for one kind of work on the cluster."""
        if self.device != "cpu" and allowance is not None:
            # A GPU's memory is mapped into the address space, so a limit on addresses cannot be used.
            allowance = Allowance(allowance.timeout, allowance.processor)
        work = WorkSpec.of(factory, tuple(map(_portable, arguments)), allowance, identity(made_with))
        return _WorkPool(self.cluster, work)

    def close(self) -> None:
        """Ends the workers and disconnects from the cluster."""
        super().close()
        self.cluster.close()


class _WorkPool:
    """One kind of work, done by the workers of a cluster."""

    def __init__(self, cluster: RayCluster, work: WorkSpec) -> None:
        self._cluster = cluster
        self.hello = cluster.hello(work)
        self._work = work.saying(self.hello)

    def map(self, requests: Iterable[Any]) -> Iterator[tuple[Any, Any | Lost]]:
        """(request, answer) in the order of the requests."""
        return self._cluster.map(self._work, requests)

    def close(self) -> None:
        """Nothing to do: the workers stay for the next work."""


def identity(made_with: str) -> dict[str, str]:
    """The settings on which shards depend besides their requests; defaults are left out.

    Vectors of another text backend, and precomputed ones, differ in their last digits, so they need other names.
    """
    unusual = {setting.name: setting.value for setting in (TEXT, VECTORS) if setting.value != setting.default}
    return {"made with": made_with, **unusual}


def _portable(argument: Any) -> Any:
    """Replaces the path of a built-in model by its name, since the package may be installed elsewhere on other machines."""
    is_boxed = isinstance(argument, str) and Path(argument).parent == box()
    return Path(argument).name if is_boxed else argument
