"""`GuardedGraphs`: builds the graphs of a few posts in a process that is killed when a post takes too much."""

from __future__ import annotations

import os
import threading
from typing import Any

from mathamr.core.cache import Cache
from mathamr.core.errors import MathAMRError
from mathamr.core.workers import TIMED_OUT, Lost, WorkerPool, WorkLimits
from mathamr.graphs.corpus import ALLOWANCE, GraphWork, rows_of

REMEMBERED = 256


class TooMuchWorkError(MathAMRError):
    """A post cannot be indexed: building its graph exceeded the allowed time or memory."""


class GuardedGraphs:
    """Runs `GraphWork` in a process of its own and caches its last results.

    A post that kills the process is tried again without the AMR parser; a post that kills it again is refused.
    """

    def __init__(self, parser: str, model: str | None, allowance: WorkLimits = ALLOWANCE) -> None:
        self._key, self._process = (parser, model, allowance), os.getpid()
        self._pool = WorkerPool(GraphWork.factory, (parser, model), workers=1, allowance=allowance)
        self.identity: str = self._pool.identity
        self._remembered: Cache[str, dict[str, Any]] = Cache(REMEMBERED)

    @classmethod
    def take(cls, parser: str, model: str | None, allowance: WorkLimits = ALLOWANCE) -> GuardedGraphs:
        """Return an instance that another index has released, or a new one; loading a parser takes seconds."""
        with _keeping:
            spare = _spare.pop((parser, model, allowance), None)
        if spare is not None and spare._process == os.getpid():
            return spare
        return cls(parser, model, allowance)

    def __call__(self, request: list[str], seconds: float | None = None) -> list[dict[str, Any]] | Lost:
        """Return one row per post, or `Lost` if the process was killed, which it is after so many seconds of a processor."""
        rows = {line: row for line in request if (row := self._remembered.get(line)) is not None}
        if missing := [line for line in request if line not in rows]:
            answer = self._pool.ask(missing, seconds)
            if isinstance(answer, Lost):
                return answer
            rows |= zip(missing, answer, strict=True)
            for line in missing:
                self._remembered.put(line, rows[line])
        return [rows[line] for line in request]

    def prepare(self, lines: list[str], names: list[str], seconds: float | None = None) -> None:
        """Build the graphs of posts before they are stored; raise `TooMuchWorkError` for one that cannot be built, or if all
        together take longer than so many seconds of a processor.
        """
        if seconds is not None:
            answer = self(lines, seconds)
            if not isinstance(answer, Lost):
                return
            if answer.cause == TIMED_OUT:
                which = repr(names[0]) if len(names) == 1 else f"these {len(names)} posts"
                raise TooMuchWorkError(
                    f"building graphs for {which} takes more work than is allowed ({answer.message}); shorten what is written"
                )
        for line, name in zip(lines, names, strict=True):
            rows = rows_of(lambda one: self(one, seconds), line)
            if isinstance(rows, Lost):
                raise TooMuchWorkError(
                    f"building the graph of {name!r} exceeded its limit ({rows.message}); split or shorten the post"
                )
            self._remembered.put(line, rows[0])

    def close(self) -> None:
        """Release the process for the next `take`; end a process released earlier."""
        if self._pool.closed:
            return
        with _keeping:
            before = list(_spare.values())
            _spare.clear()
            _spare[self._key] = self
        for each in before:
            if each is not self:
                each._pool.close()


_spare: dict[tuple[str, str | None, WorkLimits], GuardedGraphs] = {}
_keeping = threading.Lock()
