"""`ShardWorker`: what one worker of a cluster does, whoever brings it its requests.

The work itself is done by a process of its own, as on one machine: a post that takes too much ends that process, not the
worker. What was made goes to the shards, and only word of it goes back.
"""

from __future__ import annotations

import platform
import time
from typing import Any

from mathamr import __version__
from mathamr.core.errors import MathAMRError
from mathamr.core.workers import Allowance, Lost, WorkerPool
from mathamr.index.build.cluster.shardstore import ShardName, ShardStore
from mathamr.index.build.cluster.workspec import WorkSpec

Answer = tuple[str, Any]
"""("made", bytes), ("lost", [cause, message]) or ("error", message)."""


class ShardWorker:
    """Makes shards; its model is loaded once, with the first request that needs it."""

    def __init__(self, url: str) -> None:
        self._store = ShardStore(url)
        self._pool_of: tuple[tuple[str, tuple[Any, ...]], WorkerPool] | None = None

    def hello(self) -> dict[str, str]:
        """Where this is, and of which version: machines of several versions would make an index of pieces."""
        return {"version": __version__, "machine": platform.machine(), "node": platform.node()}

    def said(self, work: WorkSpec) -> Answer:
        """What the work says once it is ready, as ("hello", …)."""
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
        """The process that does this work; another one ends when the work changes, so that memory is of one."""
        wanted = (work.factory, work.arguments)
        if self._pool_of is None or self._pool_of[0] != wanted:
            if self._pool_of is not None:
                self._pool_of[1].close()
                self._pool_of = None
            allowance = Allowance(*work.allowance) if work.allowance else None
            self._pool_of = wanted, WorkerPool(work.factory, work.arguments, workers=1, allowance=allowance)
        return self._pool_of[1]
