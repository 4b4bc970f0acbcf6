"""`ShardWorker`: one worker of a cluster, independent of how requests reach it.

A separate process does the work, as on one machine: a post that exceeds its limits ends that process, not the worker. Results
are written to the shards, and only a short reply goes back.
"""

from __future__ import annotations

import platform
import time
from typing import Any

from mathamr.core.errors import MathAMRError
from mathamr.core.version import __version__
from mathamr.core.workers import Allowance, Lost, WorkerPool
from mathamr.index.indexing.cluster.shardstore import ShardName, ShardStore
from mathamr.index.indexing.cluster.workspec import WorkSpec

Answer = tuple[str, Any]
"""("made", bytes), ("lost", [cause, message]) or ("error", message)."""


class ShardWorker:
    """Computes shards; its model is loaded once, with the first request that needs it."""

    def __init__(self, url: str) -> None:
        self._store = ShardStore(url)
        self._pool_of: tuple[tuple[str, tuple[Any, ...]], WorkerPool] | None = None

    def hello(self) -> dict[str, str]:
        """The machine and version of this worker; different versions would produce an inconsistent index."""
        return {"version": __version__, "machine": platform.machine(), "node": platform.node()}

    def said(self, work: WorkSpec) -> Answer:
        """The hello of the work once it is ready, as ("hello", …)."""
        try:
            return "hello", self._pool(work).hello
        except MathAMRError as error:
            return "error", f"{platform.node()}: {error}"

    def make(self, work: WorkSpec, key: str, request: Any) -> Answer:
        """Answers a request and stores the answer as a shard."""
        try:
            pool = self._pool(work)
            if work.hello is not None and pool.hello != work.hello:
                raise MathAMRError(
                    f"its {work.name} says {pool.hello!r}, others say {work.hello!r}; the same model and the"
                    " same version have to be on all machines"
                )
            started = time.perf_counter()
            ((_, answer),) = pool.map([request])
            if isinstance(answer, Lost):
                return "lost", [answer.cause, answer.message]
            self._store.write(ShardName(work.name, key), answer)
            return "made", time.perf_counter() - started
        except MathAMRError as error:
            return "error", f"{platform.node()}: {error}"

    def _pool(self, work: WorkSpec) -> WorkerPool:
        """The process for this work; the process of another work is ended first, so that only one uses memory."""
        wanted = (work.factory, work.arguments)
        if self._pool_of is None or self._pool_of[0] != wanted:
            if self._pool_of is not None:
                self._pool_of[1].close()
                self._pool_of = None
            allowance = Allowance(*work.allowance) if work.allowance else None
            self._pool_of = wanted, WorkerPool(work.factory, work.arguments, workers=1, allowance=allowance)
        return self._pool_of[1]
