"""`GuardedGraphs`: graphs of a few posts, made in a process that is ended when a post takes too much."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from typing import Any

from mathamr.core.errors import MathAMRError
from mathamr.core.workers import Allowance, Lost, WorkerPool
from mathamr.graphs.corpus import ALLOWANCE, MINIMAL

REMEMBERED = 256


class TooMuchWorkError(MathAMRError):
    """A post that cannot be taken in: making its graph took more than is allowed."""


class GuardedGraphs:
    """As `GraphWork`, in a process of its own; what was made last is not made again.

    A post over which the process is lost is tried again without the AMR parser, which may be what failed; a post over
    which it is lost even so is nobody's to keep.
    """

    def __init__(self, parser: str, model: str | None, allowance: Allowance = ALLOWANCE) -> None:
        self._key, self._process = (parser, model, allowance), os.getpid()
        self._pool = WorkerPool(
            "mathamr.graphs.corpus:GraphWork", (parser, model), workers=1, allowance=allowance
        )
        self.hello: str = self._pool.hello
        self._remembered: OrderedDict[str, dict[str, Any]] = OrderedDict()

    @classmethod
    def take(cls, parser: str, model: str | None) -> GuardedGraphs:
        """One that another index has given back, where there is one: loading a parser takes seconds."""
        with _keeping:
            spare = _spare.pop((parser, model, ALLOWANCE), None)
        if spare is not None and spare._process == os.getpid():
            return spare
        return cls(parser, model)

    def __call__(self, request: list[str]) -> list[dict[str, Any]] | Lost:
        """One row a post; `Lost` where the process was."""
        missing = [line for line in request if line not in self._remembered]
        if missing:
            answer = self._asked(missing)
            if isinstance(answer, Lost):
                return answer
            for line, row in zip(missing, answer, strict=True):
                self._remembered[line] = row
        rows = [self._remembered[line] for line in request if line in self._remembered]
        while len(self._remembered) > REMEMBERED:
            self._remembered.popitem(last=False)
        return rows

    def prepare(self, lines: list[str], names: list[str]) -> None:
        """Makes the graphs of posts that are to be stored, or complains about the one that cannot be."""
        for line, name in zip(lines, names, strict=True):
            answer = self([line])
            if isinstance(answer, Lost):
                answer = self([MINIMAL + line])
            if isinstance(answer, Lost):
                raise TooMuchWorkError(
                    f"the post {name!r} takes more work than is allowed ({answer.message}); shorten it"
                )
            self._remembered[line] = answer[0]

    def _asked(self, lines: list[str]) -> list[dict[str, Any]] | Lost:
        ((_, answer),) = self._pool.map([lines])
        if isinstance(answer, Lost):
            return answer
        rows: list[dict[str, Any]] = answer
        return rows

    def close(self) -> None:
        """Lets go of it; the process stays for the next who takes one, the one before it ends."""
        if self._pool.closed:
            return
        with _keeping:
            before = list(_spare.values())
            _spare.clear()
            _spare[self._key] = self
        for each in before:
            if each is not self:
                each._pool.close()


_spare: dict[tuple[str, str | None, Allowance], GuardedGraphs] = {}
_keeping = threading.Lock()
