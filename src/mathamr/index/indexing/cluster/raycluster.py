"""`RayCluster`: workers on the machines of a Ray cluster, each with a few requests at a time.

Every worker is an actor that loads its model once. It holds the request it works on and one more, so that it never waits and
the number of requests in flight stays bounded. If a worker is lost, alone or with its machine, others get its requests, and a
new worker starts where there is room. Machines that join the cluster get workers, too.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, redirect_stdout, suppress
from dataclasses import dataclass, field
from typing import Any

from mathamr.core.closing import Closing
from mathamr.core.errors import MathAMRError, MissingExtraError
from mathamr.core.version import __version__
from mathamr.core.workers import Lost, processors
from mathamr.index.indexing.cluster.clusters import ClusterCounts
from mathamr.index.indexing.cluster.clusterworker import ClusterWorker, WorkSpec

LOCAL = "local"
INSTALL = 'pip install "mathamr[ray]"'
DEEP = 2
"""Number of requests per worker: the one it works on and the next."""
AHEAD = 4
"""Number of requests per worker that are read before the oldest is answered."""
ATTEMPTS = 3
"""Number of workers lost over a request after which the request is considered the cause."""
PATIENCE = 300.0
"""Seconds without a single worker after which the build fails."""
SECONDS_BETWEEN_SCANS = 5.0
"""Seconds between two checks for machines that have joined."""
_OBJECTS = 100 << 20
"""Memory for Ray's object store on a machine that we start; it is small since requests and answers are."""


@dataclass(slots=True, eq=False)
class _Request:
    """A request in flight, and its answer once it is there."""

    work: WorkSpec
    request: Any
    attempts: int = 0
    is_done: bool = False
    answer: Any = None


_END = object()


@dataclass(slots=True, eq=False)
class _Actor:
    handle: Any
    node: str = ""
    requests: dict[Any, _Request] = field(default_factory=dict)


class RayCluster(Closing):
    """A connection to Ray and our workers; a context manager."""

    def __init__(self, address: str, *, workers: int | None = None, gpus: bool = False) -> None:
        self.counts = ClusterCounts()
        self._ray = _connected(address, workers)
        # Ray prints the errors of the cluster to standard output, which belongs to the results of our commands.
        self._redirection = ExitStack()
        self._redirection.enter_context(redirect_stdout(sys.stderr))
        self._workers, self._uses_gpus = workers, gpus
        self._actors: list[_Actor] = []
        self._starting: dict[Any, _Actor] = {}
        self._waiting: deque[_Request] = deque()
        self._looked = -SECONDS_BETWEEN_SCANS
        self._alone_since = time.monotonic()

    @property
    def _gone(self) -> tuple[type[Exception], ...]:
        """Ray's exceptions for a lost worker: it died, or Ray killed it because its machine ran out of memory."""
        errors = self._ray.exceptions
        return errors.RayActorError, errors.OutOfMemoryError

    @property
    def wanted(self) -> int:
        """The target number of workers: as requested, or one per processor of the cluster."""
        if self._workers is not None:
            return self._workers
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def identity(self, work: WorkSpec) -> Any:
        """Return the identity of the work from the first machine that is ready."""
        while True:
            while not self._actors:
                self._tend(1.0)
            actor = self._actors[0]
            try:
                kind, said = self._ray.get(actor.handle.said.remote(work))
            except self._gone:
                self._waiting.extendleft(self._lose(actor))
                continue
            if kind == "error":
                raise MathAMRError(f"a worker cannot begin: {said}")
            return said

    def map(self, work: WorkSpec, requests: Iterable[Any]) -> Iterator[tuple[Any, Any | Lost]]:
        """(request, answer) in the order of the requests, which are read a bounded number ahead.

        Another `map` may run between two answers.
        """
        stream, exhausted = iter(requests), False
        pending: deque[_Request] = deque()
        while True:
            while not exhausted and len(pending) < AHEAD * max(1, len(self._actors) or self.wanted):
                request = next(stream, _END)
                if request is _END:
                    exhausted = True
                    break
                each = _Request(work, request)
                pending.append(each)
                self._waiting.append(each)
            if not pending:
                return
            first = pending[0]
            while not first.is_done:
                self._work(1.0)
            pending.popleft()
            yield first.request, first.answer
            self._work(0.0)

    def _work(self, patience: float) -> None:
        """One round: replaces lost workers, hands out waiting requests, and collects answers."""
        self._tend(0.0 if self._actors else patience)
        self._hand_out()
        refs = {ref: actor for actor in self._actors for ref in actor.requests}
        if not refs:
            return
        ready, _ = self._ray.wait(list(refs), num_returns=len(refs), timeout=0)
        if not ready and patience:
            ready, _ = self._ray.wait(list(refs), num_returns=1, timeout=patience)
        for ref in ready:
            if ref in refs[ref].requests:
                self._take(refs[ref], ref)
        self._hand_out()

    def _hand_out(self) -> None:
        """Hands requests to the workers that have the fewest, never more than `DEEP` to one."""
        while self._waiting and self._actors:
            actor = min(self._actors, key=lambda one: len(one.requests))
            if len(actor.requests) >= DEEP:
                return
            each = self._waiting.popleft()
            actor.requests[actor.handle.make.remote(each.work, each.request)] = each

    def _take(self, actor: _Actor, ref: Any) -> None:
        """Collect one answer; if its worker is gone, the worker's requests are queued again."""
        try:
            kind, said, seconds = self._ray.get(ref)
        except self._gone:
            for each in self._lose(actor):
                each.attempts += 1
                self.counts.repeated += 1
                if each.attempts < ATTEMPTS:
                    self._waiting.appendleft(each)
                else:
                    each.answer = Lost("worker died", f"{ATTEMPTS} workers were lost over it")
                    each.is_done = True
            return
        except self._ray.exceptions.RayError as error:
            raise MathAMRError(f"Ray could not run a worker: {error}") from error
        each = actor.requests.pop(ref)
        if kind == "error":
            raise MathAMRError(f"a worker stopped: {said}")
        each.is_done, each.answer = True, Lost(*said) if kind == "lost" else said
        self.counts.made += 1
        self.counts.seconds += seconds
        self.counts.nodes[actor.node] = self.counts.nodes.get(actor.node, 0) + 1

    def _lose(self, actor: _Actor) -> list[_Request]:
        """Remove a worker and return its requests."""
        if actor in self._actors:
            self._actors.remove(actor)
            self.counts.lost_workers += 1
            print(f"ray: a worker on {actor.node} was lost; others do its work", file=sys.stderr)
            with suppress(Exception):
                # A worker that is merely unreachable would keep occupying its resources.
                self._ray.kill(actor.handle)
        self._alone_since = time.monotonic()
        self._looked = -SECONDS_BETWEEN_SCANS
        lost, actor.requests = list(actor.requests.values()), {}
        return lost

    def _tend(self, patience: float) -> None:
        """Start missing workers, and activates those that have become ready."""
        now = time.monotonic()
        if now - self._looked >= SECONDS_BETWEEN_SCANS:
            self._looked = now
            for _ in range(self.wanted - len(self._actors) - len(self._starting)):
                self._start()
        if self._starting:
            refs = list(self._starting)
            ready, _ = self._ray.wait(refs, num_returns=len(refs), timeout=0)
            if not ready and patience:
                ready, _ = self._ray.wait(refs, num_returns=1, timeout=patience)
            for ref in ready:
                self._welcome(ref)
        if self._actors:
            self._alone_since = now
        elif now - self._alone_since > PATIENCE:
            raise MathAMRError(
                f"the Ray cluster has had no room for a worker for {PATIENCE:g} s; what was made is kept: run the"
                " command again when it has"
            )

    def _start(self) -> None:
        options: dict[str, Any] = {"num_cpus": 1, "max_restarts": 0}
        if self._uses_gpus:
            there = float(self._ray.cluster_resources().get("GPU", 0.0))
            if not there:
                raise MathAMRError(
                    "the Ray cluster has no accelerator; omit --device, or start the cluster with accelerators"
                )
            # Ray counts shares of an accelerator to four digits; if they were rounded up, the last worker would not fit.
            options["num_gpus"] = math.floor(1e4 * min(1.0, there / self.wanted)) / 1e4
        handle = self._ray.remote(**options)(ClusterWorker).remote()
        self._starting[handle.identity.remote()] = _Actor(handle)

    def _welcome(self, ref: Any) -> None:
        actor = self._starting.pop(ref)
        try:
            said = self._ray.get(ref)
        except self._gone as error:
            cause = getattr(error, "cause", None) or error
            if "ActorDiedError" in type(error).__name__ and "creation task" in str(error):
                raise MathAMRError(f"a worker cannot begin: {cause}") from error
            self.counts.lost_workers += 1
            return
        except self._ray.exceptions.RayError as error:
            raise MathAMRError(f"a worker cannot begin: {error}") from error
        if said["version"] != __version__:
            raise MathAMRError(
                f"{said['node']} has mathamr {said['version']}, here is {__version__}; install the same everywhere"
            )
        actor.node = said["node"]
        self._actors.append(actor)
        self.counts.started_workers += 1

    def close(self) -> None:
        """End our workers and the connection; a cluster that others started goes on."""
        for actor in (*self._actors, *self._starting.values()):
            with suppress(Exception):
                self._ray.kill(actor.handle)
        self._actors, self._starting = [], {}
        self._ray.shutdown()
        self._redirection.close()


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
    services.start_api_server = lambda *arguments, **options: (None, None)
    try:
        yield
    finally:
        services.start_api_server = start
