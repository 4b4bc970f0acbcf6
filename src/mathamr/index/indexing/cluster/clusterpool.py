"""`ClusterPool`: the worker pool of a build on the machines of a Ray cluster.

A request is a task of Ray, which spreads tasks over the machines, those that join later as well, and repeats the tasks of workers and
machines that it loses. A worker keeps the process that does the work, with its model, for the next task of the same kind; a post that
exceeds its limits ends that process, not the worker.
"""

from __future__ import annotations

import math
import os
import platform
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mathamr.core.errors import MathAMRError, MissingExtraError
from mathamr.core.version import __version__
from mathamr.core.workers import Lost, Pool, WorkerPool, WorkLimits, processors
from mathamr.index.indexing.buildpool import BuildPool, ClusterCounts, ClusterOptions
from mathamr.systems.models import box
from mathamr.text.backend import FLOAT, chosen_backend

LOCAL = "local"
INSTALL = 'pip install "mathamr[ray]"'
AHEAD = 4
"""Number of requests per worker that are read before the oldest is answered."""
ATTEMPTS = 3
"""Number of workers lost over a request after which the request is considered the cause."""
PATIENCE = 300.0
"""Seconds without a single worker after which the build fails."""
_OBJECTS = 100 << 20
"""Memory for Ray's object store on a machine that we start; it is small since requests and answers are."""
_END = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkSpec:
    """A kind of work that another machine can do: a factory of `Work` with its arguments, and its allowance."""

    factory: str
    arguments: tuple[Any, ...] = ()
    allowance: WorkLimits | None = None
    identity: Any = None
    """The identity of the work on the first machine; it must be the same everywhere."""
    version: str = __version__
    """The version of the machine that asks; different versions would produce an inconsistent index."""


_processes: dict[WorkSpec, WorkerPool] = {}
"""On a worker: the process for the last kind of work."""


def answer(work: WorkSpec, *requests: Any) -> tuple[Any, float, str]:
    """Return (answer, seconds, machine) of a request on a worker; without a request the answer is the identity of the work."""
    node = platform.node()
    if work.version != __version__:
        raise MathAMRError(
            f"{node} runs mathamr {__version__}, this machine {work.version}; install the same version on all machines"
        )
    kind = replace(work, identity=None)
    try:
        if kind not in _processes:
            while _processes:  # one at a time, for its memory
                _processes.popitem()[1].close()
            _processes[kind] = WorkerPool(work.factory, work.arguments, workers=1, allowance=work.allowance)
        pool = _processes[kind]
        if work.identity is not None and pool.identity != work.identity:
            raise MathAMRError(
                f"its {work.factory} says {pool.identity!r}, others say {work.identity!r}; the same model and the"
                " same version have to be on all machines"
            )
        started = time.perf_counter()
        found = pool.ask(requests[0]) if requests else pool.identity
        return found, time.perf_counter() - started, node
    except MathAMRError as error:
        raise MathAMRError(f"{node}: {error}") from error


class ClusterPool(BuildPool):
    """Workers on many machines that encode; this machine reads. Requests carry everything that workers need, for they share no files."""

    is_here = False

    def __init__(self, options: ClusterOptions) -> None:
        super().__init__(processors())
        self._uses_gpus = chosen_backend(options.device) == FLOAT
        self.device = "cuda" if self._uses_gpus else "cpu"
        self.cluster_counts = self.counts = ClusterCounts()
        self._workers = options.workers
        self._ray = _connected(options.address, options.workers)
        # Ray prints the errors of the cluster to standard output, which belongs to the results of our commands.
        self._redirection = ExitStack()
        self._redirection.enter_context(redirect_stdout(sys.stderr))

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
        return _WorkPool(self, work)

    @property
    def wanted(self) -> int:
        """The number of workers: as requested, or one per processor of the cluster."""
        return self._workers or max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def identity(self, work: WorkSpec) -> Any:
        """Return the identity of the work from the first machine that is ready."""
        return self._taken(self._ask(work), PATIENCE)

    def answers(self, work: WorkSpec, requests: Iterable[Any]) -> Iterator[tuple[Any, Any | Lost]]:
        """Yield (request, answer) in the order of the requests, which are read a bounded number ahead.

        Other requests may be asked between two answers.
        """
        stream = iter(requests)
        pending: deque[tuple[Any, Any]] = deque()
        running: set[Any] = set()
        wanted, request = self.wanted, None
        while True:
            # A number of workers that was asked for is not exceeded; else there is always a task that waits for a worker.
            most = wanted if self._workers else 2 * wanted
            while request is not _END and len(running) < most and len(pending) < AHEAD * wanted:
                if (request := next(stream, _END)) is not _END:
                    pending.append((request, self._ask(work, request)))
                    running.add(pending[-1][1])
            if not pending:
                return
            first, ref = pending[0]
            if ref in running:
                ready, _ = self._ray.wait(list(running), num_returns=1, timeout=1.0)
                running.difference_update(ready)
                wanted = self.wanted
                continue
            pending.popleft()
            found = self._taken(ref)
            self.counts.made += 1
            yield first, found

    def _ask(self, work: WorkSpec, *requests: Any) -> Any:
        options: dict[str, Any] = {"num_cpus": 1, "max_retries": ATTEMPTS - 1}
        if self._uses_gpus:
            there = float(self._ray.cluster_resources().get("GPU", 0.0))
            if not there:
                raise MathAMRError(
                    "the Ray cluster has no accelerator; omit --device, or start the cluster with accelerators"
                )
            # Ray counts shares of an accelerator to four digits; if they were rounded up, the last worker would not fit.
            options["num_gpus"] = math.floor(1e4 * min(1.0, there / self.wanted)) / 1e4
        return self._ray.remote(**options)(answer).remote(work, *requests)

    def _taken(self, ref: Any, timeout: float | None = None) -> Any:
        """Return the answer of a task; `Lost` if every worker was lost over it."""
        errors = self._ray.exceptions
        try:
            found, seconds, node = self._ray.get(ref, timeout=timeout)
        except errors.GetTimeoutError as error:
            raise MathAMRError(
                f"the Ray cluster has had no room for a worker for {PATIENCE:g} s; what was made is kept: run the"
                " command again when it has"
            ) from error
        except (errors.WorkerCrashedError, errors.NodeDiedError, errors.OutOfMemoryError):
            self.counts.lost_workers += ATTEMPTS
            return Lost("worker died", f"{ATTEMPTS} workers were lost over it")
        except errors.RayTaskError as error:
            raise MathAMRError(f"a worker stopped: {error.cause}") from error
        except errors.RayError as error:
            raise MathAMRError(f"Ray could not run a worker: {error}") from error
        self.counts.seconds += seconds
        self.counts.nodes[node] = self.counts.nodes.get(node, 0) + 1
        return found

    def close(self) -> None:
        """End our workers and the connection; a cluster that others started goes on."""
        super().close()
        self._ray.shutdown()
        self._redirection.close()


class _WorkPool:
    """One kind of work, done by the workers of a cluster."""

    def __init__(self, cluster: ClusterPool, work: WorkSpec) -> None:
        self._cluster = cluster
        self.identity = cluster.identity(work)
        self._work = replace(work, identity=self.identity)

    def map(self, requests: Iterable[Any]) -> Iterator[tuple[Any, Any | Lost]]:
        """Yield (request, answer) in the order of the requests."""
        return self._cluster.answers(self._work, requests)

    def close(self) -> None:
        """Do nothing: the workers stay for the next work."""


def _portable(argument: Any) -> Any:
    """Replace the path of a built-in model by its name, since the package may be installed elsewhere on other machines."""
    is_boxed = isinstance(argument, str) and Path(argument).parent == box()
    return Path(argument).name if is_boxed else argument


def _connected(address: str, workers: int | None) -> Any:
    """Return the module `ray`, connected to the cluster of that address; ``local`` starts one here."""
    if address == LOCAL:
        # Ray reads this when it is imported: its ports then listen on loopback alone, as on other systems.
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    try:
        import ray
    except ImportError as error:
        raise MissingExtraError("Ray", INSTALL) from error
    options: dict[str, Any] = {"logging_level": "warning", "log_to_driver": False}
    if address == LOCAL:
        # Never the cluster that the environment may name: ``local`` means this machine.
        options |= {"address": LOCAL, "num_cpus": workers or processors(), "object_store_memory": _OBJECTS}
        options |= {"include_dashboard": False}
    else:
        options["address"] = address
    try:
        with _no_api_server(ray) if address == LOCAL else nullcontext():
            ray.init(**options)
    except Exception as error:  # Ray raises a bare one if a node on a busy machine did not start in time
        ray.shutdown()
        raise MathAMRError(f"cannot reach the Ray cluster {address!r}: {error}") from error
    return ray


@contextmanager
def _no_api_server(ray: Any) -> Iterator[None]:
    """Let a local cluster start without its API server.

    Without a dashboard it only reports usage, and it asks the network which cloud this is even if reports are off.
    """
    services = ray._private.services
    start = services.start_api_server
    services.start_api_server = lambda *_, **__: (None, None)
    try:
        yield
    finally:
        services.start_api_server = start
