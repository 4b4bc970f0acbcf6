"""`ClusterPool`: the pool of a build that is spread over the machines of a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from mathamr.index.build.cluster.raycluster import RayCluster
from mathamr.index.build.cluster.workspec import WorkSpec
from mathamr.index.build.buildpool import BuildPool
from mathamr.text.backend import FLOAT, chosen_backend
from mathamr.core.settings import TEXT, VECTORS
from mathamr.systems.models import box
from mathamr.core.workers import Allowance, Lost, Pool, processors


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOptions:
    """Which Ray cluster builds an index (``local``: one of this machine's processors), and where its shards are kept."""

    address: str
    shards: str
    workers: int | None = None
    """Workers in all; by default one for each processor of the cluster."""
    device: str = "cpu"


class ClusterPool(BuildPool):
    """Workers on many machines, which do not see the index: what they need comes with the requests."""

    portion = 8
    has_index = False

    def __init__(self, options: ClusterOptions) -> None:
        super().__init__(processors())
        self._options = options
        uses_gpus = chosen_backend(options.device) == FLOAT
        self.device = "cuda" if uses_gpus else "cpu"
        self.cluster = RayCluster(options.address, options.shards, workers=options.workers, gpus=uses_gpus)

    @property
    def is_alone(self) -> bool:
        """Never: the work is theirs."""
        return False

    @cached_property
    def scale(self) -> int:  # type: ignore[override]
        """Enough posts at a time that nobody waits for the last of them."""
        return max(1, self.cluster.wanted)

    def workers_for(
        self,
        factory: str,
        arguments: Sequence[Any] = (),
        *,
        allowance: Allowance | None = None,
        made_with: str = "",
    ) -> Pool:
        """The cluster, for some work."""
        if self.device != "cpu" and allowance is not None:
            # A graphics processor's memory is mapped: no limit of addresses can hold it.
            allowance = Allowance(allowance.timeout, allowance.processor)
        work = WorkSpec.of(factory, tuple(map(_told, arguments)), allowance, identity(made_with))
        return _WorkPool(self.cluster, work)

    def close(self) -> None:
        """Ends the workers and lets go of the cluster."""
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
    """What shards depend on beside their requests, the usual way of reading text left unsaid.

    Vectors of another way, or made ahead, differ in their last digits: they must not be found under the same names.
    """
    unusual = {setting.name: setting.value for setting in (TEXT, VECTORS) if setting.value != setting.default}
    return {"made with": made_with, **unusual}


def _told(argument: Any) -> Any:
    """A model in the box is told by its name: the box may stand elsewhere on other machines."""
    is_boxed = isinstance(argument, str) and Path(argument).parent == box()
    return Path(argument).name if is_boxed else argument
