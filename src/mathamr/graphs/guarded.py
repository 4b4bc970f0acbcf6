"""`GuardedGraphs`: builds the graphs of a few posts in a process that is killed when a post takes too much."""

from __future__ import annotations

import base64
import os
import threading
from collections.abc import Mapping
from typing import Any

import numpy as np

from mathamr.core.cache import Cache
from mathamr.core.errors import MathAMRError
from mathamr.core.workers import Lost, WorkerPool, WorkLimits
from mathamr.graphs.corpus import ALLOWANCE, MINIMAL, GraphWork
from mathamr.text.folder import loaded_onnx_encoders

REMEMBERED = 256


class TooMuchWorkError(MathAMRError):
    """A post cannot be indexed: building its graph exceeded the allowed time or memory."""


class SharedReading(GraphWork):
    """Makes graphs and also answers with the text encoders' states that the parser read, so that nobody reads the text again."""

    def __call__(self, request: list[str]) -> Any:
        """Return one row per post, and states by encoder and window."""
        rows = super().__call__(request)
        return rows, {
            fingerprint: [
                (base64.b64encode(window).decode(), base64.b64encode(states.tobytes()).decode())
                for window, states in encoder.kept().items()
            ]
            for fingerprint, encoder in loaded_onnx_encoders().items()
        }


def _keep(read: Mapping[str, list[tuple[str, str]]]) -> None:
    """Hands the states that another process read to the encoders of this one."""
    encoders = loaded_onnx_encoders()
    for fingerprint, windows in read.items():
        if fingerprint in encoders:
            encoder = encoders[fingerprint]
            rows = ((base64.b64decode(window), base64.b64decode(states)) for window, states in windows)
            size = encoder.configuration.size
            encoder.keep(
                {window: np.frombuffer(states, np.float32).reshape(-1, size) for window, states in rows}
            )


class GuardedGraphs:
    """Runs `GraphWork` in a process of its own and caches its last results.

    A post that kills the process is tried again without the AMR parser; a post that kills it again is refused.
    """

    def __init__(self, parser: str, model: str | None, allowance: WorkLimits = ALLOWANCE) -> None:
        self._key, self._process = (parser, model, allowance), os.getpid()
        self._pool = WorkerPool(
            "mathamr.graphs.guarded:SharedReading", (parser, model), workers=1, allowance=allowance
        )
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

    def __call__(self, request: list[str]) -> list[dict[str, Any]] | Lost:
        """Return one row per post, or `Lost` if the process was killed."""
        rows = {line: row for line in request if (row := self._remembered.get(line)) is not None}
        if missing := [line for line in request if line not in rows]:
            answer = self._request(missing)
            if isinstance(answer, Lost):
                return answer
            rows |= zip(missing, answer, strict=True)
            for line in missing:
                self._remembered.put(line, rows[line])
        return [rows[line] for line in request]

    def prepare(self, lines: list[str], names: list[str]) -> None:
        """Build the graphs of posts before they are stored; raise `TooMuchWorkError` for one that cannot be built."""
        for line, name in zip(lines, names, strict=True):
            answer = self([line])
            if not isinstance(answer, Lost):
                continue
            minimal = self([MINIMAL + line])
            if isinstance(minimal, Lost):
                raise TooMuchWorkError(
                    f"the post {name!r} takes more work than is allowed ({minimal.message}); shorten it"
                )
            minimal[0]["fallbacks"][f"post: {answer.cause}"] = 1
            self._remembered.put(line, minimal[0])

    def _request(self, lines: list[str]) -> list[dict[str, Any]] | Lost:
        ((_, answer),) = self._pool.map([lines])
        if isinstance(answer, Lost):
            return answer
        rows: list[dict[str, Any]]
        rows, read = answer
        _keep(read)
        return rows

    def close(self) -> None:
        """Releases the process for the next `take`; a process released earlier is ended."""
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
