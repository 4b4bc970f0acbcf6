"""`WorkerPool`: runs the same work in several processes; answers come in order, and none is lost.

The processes are started afresh rather than forked, because numpy, ONNX Runtime and torch hold threads and locks that do
not survive a fork, and they talk over pipes, so that a script without a ``__main__`` guard can use them. A message is a pickle
after its length; both ends are our own processes.
"""

from __future__ import annotations

import gc
import json
import os
import pickle
import resource
import select
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar

from mathamr.core.batches import prefetched
from mathamr.core.closing import Closing
from mathamr.core.errors import MathAMRError
from mathamr.core.memory import collect_rarely

T = TypeVar("T")
TIMEOUT = 600.0
TIMED_OUT = "time-out"
"""The cause of an answer that was lost because it took too long."""
_LOOK_AHEAD = 4
_AT_A_TIME = 1 << 16
_LENGTH = 8
"""Bytes of a message's length."""
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Variables that keep numpy's libraries from starting threads of their own, if they are set before numpy is imported."""


class Work(Protocol):
    """The task of a worker process: it sends its `identity` once it is ready, then answers every request."""

    @property
    def identity(self) -> Any:
        """What its answers depend on besides the requests, such as a fingerprint; the first message to the parent."""
        ...

    def __call__(self, request: Any) -> Any:
        """Return the answer to one request."""
        ...


def processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Lost:
    """Replaces the answer if the worker died while working on the request, or took too long."""

    cause: str
    message: str


@dataclass(frozen=True, slots=True)
class WorkLimits:
    """The resources that one request may use; a process that exceeds them is killed.

    `timeout` is in seconds of wall-clock time, `processor` in seconds of processor time, so that a busy machine does not
    cost an answer; `memory` is in bytes above what the process uses when it is ready. `None` means no limit.
    """

    timeout: float = TIMEOUT
    processor: float | None = None
    memory: int | None = None


class Pool(Protocol):
    """A pool of workers, on this machine or elsewhere."""

    @property
    def identity(self) -> Any:
        """The message that the work sent once it was ready."""
        ...

    def map(self, requests: Iterable[Any]) -> Iterator[tuple[Any, Any | Lost]]:
        """Yield (request, answer) in the order of the requests, which are read a little ahead."""
        ...

    def close(self) -> None:
        """End the workers."""
        ...


def answer_each(
    ask: Callable[[Iterable[Any]], Iterator[tuple[Any, Any | Lost]]], portions: Iterable[list[T]]
) -> Iterator[tuple[T, Any | Lost]]:
    """Yield every item of some portions with its answer by the method `map` of a pool.

    The items of a portion over which a process was lost are asked for one by one.
    """
    for portion, answers in ask(portions):
        if not isinstance(answers, Lost):
            yield from zip(portion, answers, strict=True)
            continue
        for item in portion:
            ((_, alone),) = ask([[item]]) if len(portion) > 1 else [(portion, answers)]
            yield item, alone if isinstance(alone, Lost) else alone[0]


class WorkerPool(Closing):
    """Processes that each create their own `Work` by calling ``module:factory`` with the arguments."""

    def __init__(
        self,
        factory: str,
        arguments: Sequence[Any] = (),
        *,
        workers: int = 2,
        allowance: WorkLimits | None = None,
    ) -> None:
        if workers < 1:
            raise MathAMRError(f"workers must be at least 1, got {workers}")
        allowed = allowance or WorkLimits()
        self._workers = [_Worker(factory, arguments, allowed) for _ in range(workers)]
        self._finalizer = weakref.finalize(self, _stop, self._workers)
        try:
            for worker in self._workers:
                worker.start()
            identities = [worker.wait_until_ready() for worker in self._workers]
            self.identity: Any = identities[0]
        except BaseException:
            self.close()
            raise

    def map(self, requests: Iterable[Any]) -> Iterator[tuple[Any, Any | Lost]]:
        """Yield (request, answer) in the order of the requests, which are read a little ahead, in the caller's thread."""
        idle: SimpleQueue[_Worker] = SimpleQueue()
        for worker in self._workers:
            idle.put(worker)

        def ask(request: Any) -> tuple[Any, Any | Lost]:
            worker = idle.get()
            try:
                return request, worker.ask(request)
            finally:
                idle.put(worker)

        # A caller that stops early may use the same processes again if no request is under way.
        count = len(self._workers)
        yield from prefetched(ask, requests, count, _LOOK_AHEAD * count, stop=self.close)

    def ask(self, request: Any, processor: float | None = None) -> Any | Lost:
        """Return the answer to one request, from the first process; `processor` replaces the seconds of its allowance."""
        return self._workers[0].ask(request, processor)

    @property
    def closed(self) -> bool:
        """True after `close`."""
        return not self._finalizer.alive

    def close(self) -> None:
        """End the processes."""
        self._finalizer()


def _stop(workers: list[_Worker]) -> None:
    for worker in workers:
        worker.close()


class _Worker:
    """One process and the pipes to it."""

    def __init__(self, factory: str, arguments: Sequence[Any], allowance: WorkLimits) -> None:
        self.factory, self.arguments, self.allowance = factory, arguments, allowance
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()
        self._closed = False
        self._asking = threading.Lock()
        """Serialises requests: a process takes one at a time, but `map` and `ask` may overlap."""

    def start(self) -> None:
        """Start the process; it creates its work first, then it sends its identity."""
        path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
        self._process = subprocess.Popen(
            # -P: a json.py in the user's folder must not replace the standard module.
            [
                *(sys.executable, "-P", "-m", "mathamr.core.workers"),
                *(self.factory, json.dumps(list(self.arguments))),
                json.dumps(self.allowance.memory),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**ONE_THREAD, **os.environ, "PYTHONPATH": path},
        )
        assert self._process.stdin is not None
        os.set_blocking(self._process.stdin.fileno(), False)

    def wait_until_ready(self) -> Any:
        """Wait for the process and return its identity."""
        identity = self._exchange(None, timeout=None)
        if isinstance(identity, Lost):
            raise MathAMRError(f"a worker process for {self.factory} ended while loading: {identity.message}")
        return identity

    def ask(self, request: Any, processor: float | None = None) -> Any | Lost:
        """Return the answer to a request; a process that was lost is replaced first."""
        with self._asking:
            if self._closed:
                raise MathAMRError("the worker pool is closed; create another one")
            if self._process is None:
                self.start()
                self.wait_until_ready()
            return self._exchange(request, self.allowance.timeout, processor or self.allowance.processor)

    def _exchange(self, request: Any, timeout: float | None, processor: float | None = None) -> Any | Lost:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise MathAMRError("the worker pool is closed; create another one")
        sent = b"" if request is None else _message((processor or 0, request))
        try:
            received = _answer_to(sent, process.stdin.fileno(), process.stdout.fileno(), timeout)
        except TimeoutError:
            self.stop()
            return Lost(TIMED_OUT, f"no answer within {timeout:g} s")
        except BaseException:
            self.stop()  # else the next request would get the answer to this one
            raise
        if received is None:
            self.stop()
            if process.returncode == -signal.SIGPROF:
                return Lost(TIMED_OUT, f"no answer within {processor:g} s of a processor")
            return Lost("worker died", f"the process ended with exit code {process.returncode}")
        answer: dict[str, Any] = pickle.loads(received)
        if "error" in answer:
            self.stop()
            raise MathAMRError(answer["error"])
        return answer["answer"]

    def close(self) -> None:
        """End the process for good."""
        self._closed = True
        self.stop()

    def stop(self) -> None:
        """End the process; the next request starts another one."""
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return  # after a fork, the workers are the parent's
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                # A request that was never read may still be in the pipe.
                with suppress(OSError):
                    pipe.close()


def _message(content: Any) -> bytes:
    packed = pickle.dumps(content, pickle.HIGHEST_PROTOCOL)
    return len(packed).to_bytes(_LENGTH, "little") + packed


def _answer_to(sent: bytes, to: int, of: int, timeout: float | None) -> bytes | None:
    """Send a message and return the answer, `None` if the other side ended; raise `TimeoutError`.

    One thread waits for both pipes, since starting a second one takes longer than most answers.
    """
    end = None if timeout is None else time.monotonic() + timeout
    waiting, left, got, wanted = select.poll(), memoryview(sent), bytearray(), _LENGTH
    waiting.register(of, select.POLLIN)
    if left:
        waiting.register(to, select.POLLOUT)
    while True:
        ready = waiting.poll(None if end is None else 1e3 * max(0.0, end - time.monotonic()))
        if not ready:
            raise TimeoutError
        try:
            for pipe, _ in ready:
                if pipe == to:
                    left = left[os.write(to, left) :]
                    if not left:
                        waiting.unregister(to)
                    continue
                part = os.read(of, max(_AT_A_TIME, wanted - len(got)))
                if not part:
                    return None
                got += part
                if wanted == _LENGTH and len(got) >= _LENGTH:
                    wanted += int.from_bytes(got[:_LENGTH], "little")
                if wanted > _LENGTH and len(got) >= wanted:
                    return bytes(memoryview(got)[_LENGTH:wanted])
        except OSError:
            return None


def _work(factory: str, arguments: str, memory: str) -> None:
    """Run the worker process: send the identity, then answer every request."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers itself
    # Output that the work prints goes to stderr, because stdout carries the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)

    def answer(row: dict[str, Any]) -> None:
        answers.write(_message(row))
        answers.flush()

    try:
        module, _, attribute = factory.partition(":")
        work: Work = getattr(import_module(module), attribute)(*json.loads(arguments))
        gc.freeze()  # loaded models stay for good
        collect_rarely()
        answer({"answer": work.identity})
        gc.collect()
        gc.freeze()  # loaded models stay for good: requests need not wait while the garbage collector scans them
        if most := json.loads(memory):
            _limit_memory(most)
        while length := sys.stdin.buffer.read(_LENGTH):
            processor, request = pickle.loads(sys.stdin.buffer.read(int.from_bytes(length, "little")))
            # The default action of the signal ends the process, even inside a library that never returns to Python.
            signal.setitimer(signal.ITIMER_PROF, processor)
            result = work(request)
            signal.setitimer(signal.ITIMER_PROF, 0)
            answer({"answer": result})
    except MathAMRError as error:
        answer({"error": str(error)})


def _limit_memory(more: int) -> None:
    """Limit this process to `more` bytes above its present use, on systems that report it."""
    try:
        has = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (has + more, resource.RLIM_INFINITY))
    except (OSError, ValueError):
        return


if __name__ == "__main__":
    _work(*sys.argv[1:])
