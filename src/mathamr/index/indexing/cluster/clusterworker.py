"""`ClusterWorker`: one worker of a cluster, independent of how requests reach it.

A separate process does the work, as on one machine: a post that exceeds its limits ends that process, not the worker.
"""

from __future__ import annotations

import platform
import time
from dataclasses import dataclass, replace
from typing import Any

from mathamr.core.errors import MathAMRError
from mathamr.core.version import __version__
from mathamr.core.workers import Lost, WorkerPool, WorkLimits

Answer = tuple[str, Any, float]
"""("made", answer, seconds), ("lost", (cause, message), seconds) or ("error", message, 0)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkSpec:
    """A kind of work that another machine can do: a factory of `Work` with its arguments, and its allowance."""

    factory: str
    arguments: tuple[Any, ...] = ()
    allowance: WorkLimits | None = None
    identity: Any = None
    """The identity of the work on the first machine; it must be the same everywhere."""

    def saying(self, identity: Any) -> WorkSpec:
        """Return a copy with the identity of the first machine."""
        return replace(self, identity=identity)


class ClusterWorker:
    """Answers requests; its model is loaded once, with the first request that needs it."""

    def __init__(self) -> None:
        self._pool_of: tuple[WorkSpec, WorkerPool] | None = None

    def identity(self) -> dict[str, str]:
        """Return the machine and version of this worker; different versions would produce an inconsistent index."""
        return {"version": __version__, "machine": platform.machine(), "node": platform.node()}

    def said(self, work: WorkSpec) -> tuple[str, Any]:
        """Return the identity of the work once it is ready, as ("identity", …)."""
        try:
            return "identity", self._pool(work).identity
        except MathAMRError as error:
            return "error", f"{platform.node()}: {error}"

    def make(self, work: WorkSpec, request: Any) -> Answer:
        """Answer a request."""
        try:
            pool = self._pool(work)
            if work.identity is not None and pool.identity != work.identity:
                raise MathAMRError(
                    f"its {work.factory} says {pool.identity!r}, others say {work.identity!r}; the same model and the"
                    " same version have to be on all machines"
                )
            started = time.perf_counter()
            ((_, answer),) = pool.map([request])
            seconds = time.perf_counter() - started
            if isinstance(answer, Lost):
                return "lost", (answer.cause, answer.message), seconds
            return "made", answer, seconds
        except MathAMRError as error:
            return "error", f"{platform.node()}: {error}", 0.0

    def _pool(self, work: WorkSpec) -> WorkerPool:
        """Return the process for this work; the process of another work is ended first, so that only one uses memory."""
        wanted = replace(work, identity=None)
        if self._pool_of is None or self._pool_of[0] != wanted:
            if self._pool_of is not None:
                self._pool_of[1].close()
                self._pool_of = None
            self._pool_of = (
                wanted,
                WorkerPool(work.factory, work.arguments, workers=1, allowance=work.allowance),
            )
        return self._pool_of[1]
