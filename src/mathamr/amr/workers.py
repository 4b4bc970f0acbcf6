"""Parallel parsing: every worker is a process of its own with its own copy of the parser.

The processes are started afresh rather than forked, because spaCy and numpy hold threads and locks that do not
survive a fork, and they talk JSON lines over pipes, so that a script without a ``__main__`` guard can use them too.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import weakref
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from mathamr.amr.batch import parse_each
from mathamr.amr.graph import Amr
from mathamr.amr.parser import Failure, PartialParseError, load_parser
from mathamr.errors import MathAMRError

BATCH = 32
TIMEOUT = 120.0
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class ParallelParser:
    """A parser spread over processes; order is kept, and a worker that dies or hangs costs only its own sentence.

    Where a worker dies over a batch, or takes longer than `timeout` seconds for it, a fresh one parses its
    sentences one by one, so that the one at fault stands alone.
    """

    def __init__(
        self,
        name: str = "builtin",
        model: str | None = None,
        *,
        workers: int = 2,
        batch: int = BATCH,
        timeout: float = TIMEOUT,
    ) -> None:
        if workers < 1:
            raise MathAMRError(f"{workers} workers cannot parse; give at least 1")
        self.batch = batch
        self._workers = [_Worker(name, model, timeout) for _ in range(workers)]
        self._finalizer = weakref.finalize(self, _stop, self._workers)
        try:
            for worker in self._workers:
                worker.start()
            for worker in self._workers:
                self.name, self.fingerprint = worker.wait_until_ready()
        except BaseException:
            self.close()
            raise

    def parse(self, sentences: Sequence[str]) -> list[Amr]:
        """One graph for every sentence; `PartialParseError` where some failed."""
        # Several batches for each worker even out sentences of different lengths.
        size = max(1, min(self.batch, -(-len(sentences) // (4 * len(self._workers)))))
        jobs = deque(
            (start, tuple(sentences[start : start + size])) for start in range(0, len(sentences), size)
        )
        results: dict[int, list[Amr | Failure]] = {}
        errors: list[BaseException] = []

        def serve(worker: _Worker) -> None:
            try:
                while not errors:
                    start, batch = jobs.popleft()
                    results[start] = worker.parse(batch)
            except IndexError:
                return  # no job is left
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=serve, args=(worker,), daemon=True) for worker in self._workers]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        except BaseException:
            self.close()
            raise
        if errors:
            raise errors[0]
        ordered = [result for start in sorted(results) for result in results[start]]
        if any(isinstance(result, Failure) for result in ordered):
            raise PartialParseError(ordered)
        return [result for result in ordered if isinstance(result, Amr)]

    def close(self) -> None:
        """Ends the workers."""
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _stop(workers: list[_Worker]) -> None:
    for worker in workers:
        worker.closed = True
        worker.stop()


class _WorkerLost(Exception):  # noqa: N818 - never leaves this module
    """The process is gone; `failure` says why."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure


class _Worker:
    """One process and the pipes to it."""

    def __init__(self, name: str, model: str | None, timeout: float) -> None:
        self.name, self.model, self.timeout = name, model, timeout
        self.closed = False
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts the process, which loads the parser and then says so."""
        path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-P",
                "-m",
                "mathamr.amr.workers",
                self.name,
                *([self.model] if self.model else []),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**_ONE_THREAD, **os.environ, "PYTHONPATH": path},
        )

    def wait_until_ready(self) -> tuple[str, str]:
        """Name and fingerprint of the parser, once it is loaded."""
        try:
            hello = self._ask(None, timeout=None)
        except _WorkerLost as lost:
            raise MathAMRError(
                f"a parser process for {self.name!r} ended while loading: {lost.failure.message}"
            ) from None
        return hello["name"], hello["fingerprint"]

    def parse(self, batch: tuple[str, ...]) -> list[Amr | Failure]:
        """A graph or a failure for every sentence."""
        try:
            return self._attempt(batch)
        except _WorkerLost as lost:
            if len(batch) == 1:
                return [lost.failure]
        return [result for sentence in batch for result in self.parse((sentence,))]

    def _attempt(self, batch: tuple[str, ...]) -> list[Amr | Failure]:
        if self.closed:
            raise MathAMRError("this parser is closed; make a new one")
        if self._process is None:
            self.start()
            self.wait_until_ready()
        rows = self._ask(list(batch), self.timeout)["results"]
        return [Amr.from_json(row) if isinstance(row, str) else Failure(*row) for row in rows]

    def _ask(self, question: list[str] | None, timeout: float | None) -> dict[str, Any]:
        """The process' next line, after `question` was put to it; what it cannot answer ends it."""
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise _WorkerLost(Failure("worker died", "the parser was closed"))
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(timeout, end) if timeout else None
        if timer:
            timer.start()
        try:
            if question is not None:
                process.stdin.write(json.dumps(question).encode() + b"\n")
                process.stdin.flush()
            line = process.stdout.readline()
        except OSError:
            line = b""
        finally:
            if timer:
                timer.cancel()
        if not line.endswith(b"\n"):
            self.stop()
            if late.is_set():
                raise _WorkerLost(Failure("time-out", f"no answer within {timeout:g} s"))
            raise _WorkerLost(
                Failure("worker died", f"the parser's process ended with exit code {process.returncode}")
            )
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise MathAMRError(answer["error"])
        return answer

    def stop(self) -> None:
        """Ends the process; the next batch starts another one."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                pipe.close()


def _work(name: str, model: str | None = None) -> None:
    """The life of a worker: says hello, then answers every line of sentences with a line of graphs."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers itself
    # Whatever the parser prints goes to stderr: stdout carries the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)

    def answer(row: dict[str, Any]) -> None:
        answers.write(json.dumps(row).encode() + b"\n")
        answers.flush()

    try:
        parser = load_parser(name, model)
        answer({"name": parser.name, "fingerprint": parser.fingerprint})
        for line in sys.stdin.buffer:
            results = parse_each(parser, json.loads(line))
            answer(
                {"results": [r.to_json() if isinstance(r, Amr) else [r.cause, r.message] for r in results]}
            )
    except MathAMRError as error:
        answer({"error": str(error)})


if __name__ == "__main__":
    _work(*sys.argv[1:])
