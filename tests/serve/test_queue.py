"""Threads for one kind of work: a bounded queue that clients share, and what becomes of late work."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from mathamr.core.cancellation import check_cancelled
from mathamr.core.errors import MathAMRError
from mathamr.serve.errors import ApiError
from mathamr.serve.queue import CLIENT, WorkQueue

pytestmark = pytest.mark.anyio
LONG = 60.0
Queues = Callable[..., WorkQueue]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def queues() -> Iterator[Queues]:
    """Makes queues, by default of one thread where nothing waits, and closes them."""
    made: list[WorkQueue] = []

    def make(workers: int = 1, waiting: int = 0, reserve: int = 0) -> WorkQueue:
        made.append(WorkQueue("test", workers, waiting, reserve))
        return made[-1]

    yield make
    for queue in made:
        queue.close()


@contextmanager
def refusal(*codes: str) -> Iterator[pytest.ExceptionInfo[ApiError]]:
    with pytest.raises(ApiError) as refused:
        yield refused
    assert refused.value.code in codes


class Block:
    """Work that waits, an event that says that it has begun, and one that lets it go on."""

    def __init__(self) -> None:
        self.began, self.go = threading.Event(), threading.Event()

    def __call__(self) -> bool:
        self.began.set()
        return self.go.wait(LONG)


async def started(queue: WorkQueue, block: Block, seconds: float | None = LONG) -> asyncio.Task[bool]:
    task = asyncio.create_task(queue.run(block, seconds))
    await asyncio.to_thread(block.began.wait, LONG)
    return task


async def test_work_beyond_threads_and_queue_is_sent_away_and_the_rest_is_done(queues: Queues) -> None:
    queue, block = queues(waiting=1), Block()
    first = asyncio.create_task(queue.run(block, LONG))
    second = asyncio.create_task(queue.run(lambda: "second", LONG))
    await asyncio.sleep(0)
    with refusal("busy") as refused:
        await queue.run(lambda: "third", LONG)
    assert refused.value.headers["Retry-After"] == "1"
    block.go.set()
    assert (await first, await second) == (True, "second")
    assert queue.taken == 0


async def test_late_work_is_answered_and_keeps_its_place_until_it_ends(queues: Queues) -> None:
    queue, block = queues(), Block()
    code = "busy"
    while code == "busy":  # on a busy machine it may not even begin in that time
        with refusal("busy", "timeout") as late:
            await queue.run(block, 0.2)
        code = late.value.code
    with refusal("busy"):
        await queue.run(lambda: None, LONG)
    block.go.set()
    while queue.taken:
        await asyncio.sleep(0.001)
    assert await queue.run(lambda: "again", LONG) == "again"


async def test_late_work_is_cancelled_and_a_write_is_not(queues: Queues) -> None:
    queue, ended, block = queues(), threading.Event(), Block()
    written: list[bool] = []

    def endless() -> None:
        try:
            while True:
                check_cancelled()
        finally:
            ended.set()

    def write() -> None:
        block()
        check_cancelled()
        written.append(True)

    with refusal("timeout", "busy") as late:
        await queue.run(endless, 0.2)
    if late.value.code == "timeout":
        assert await asyncio.to_thread(ended.wait, LONG)
    while queue.taken:
        await asyncio.sleep(0.001)
    writing = asyncio.create_task(queue.run(write, None))
    await asyncio.to_thread(block.began.wait, LONG)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    block.go.set()
    while queue.taken:
        await asyncio.sleep(0.001)
    assert written


async def test_work_that_waited_too_long_is_sent_away_and_gives_its_place_back_at_once(
    queues: Queues,
) -> None:
    queue, block = queues(waiting=1), Block()
    first = await started(queue, block)
    with refusal("busy"):
        await queue.run(lambda: None, 0.01)
    assert queue.taken == 1
    block.go.set()
    await first


async def test_a_client_is_told_to_come_back_later_when_work_is_slow(queues: Queues) -> None:
    queue, block = queues(), Block()
    queue._mean_seconds[""] = 20.0
    first = await started(queue, block)
    with refusal("busy") as refused:
        await queue.run(lambda: None, LONG)
    assert refused.value.headers["Retry-After"] == "20"
    block.go.set()
    await first


async def test_an_exception_of_the_work_is_the_callers(queues: Queues) -> None:
    queue = queues()
    with pytest.raises(ZeroDivisionError):
        await queue.run(lambda: 1 // 0, LONG)
    assert queue.taken == 0


async def test_a_closed_queue_says_so_also_to_work_that_still_waits(queues: Queues) -> None:
    queue, block = queues(waiting=1), Block()
    first = await started(queue, block, None)
    second = asyncio.create_task(queue.run(lambda: "second", None))
    await asyncio.sleep(0)
    closing = asyncio.create_task(asyncio.to_thread(queue.close))
    with refusal("unavailable"):
        await second
    block.go.set()
    assert await first is True
    await closing
    with refusal("unavailable"):
        await queue.run(lambda: None, LONG)
    assert queue.taken == 0


async def submitted(queue: WorkQueue, client: str, order: list[str], count: int) -> list[asyncio.Task[None]]:
    """So many jobs of a client, in the queue when this returns; each notes when it runs."""

    async def job() -> None:
        CLIENT.set(client)
        await queue.run(lambda: order.append(client), LONG)

    tasks = [asyncio.create_task(job()) for _ in range(count)]
    await asyncio.sleep(0)
    return tasks


@pytest.mark.parametrize(
    ("waiting", "few", "expected"),
    [(100, 2, ["many", "few"] * 2 + ["many"] * 70), (10, 8, ["many", "few"] * 5)],
    ids=["in turn", "in a full queue they displace those of the client with most"],
)
async def test_clients_take_turns_however_many_requests_one_of_them_has(
    queues: Queues, waiting: int, few: int, expected: list[str]
) -> None:
    queue, block = queues(waiting=waiting), Block()
    order: list[str] = []
    first = await started(queue, block, None)
    jobs = [*await submitted(queue, "many", order, 72), *await submitted(queue, "few", order, few)]
    block.go.set()
    outcomes = await asyncio.gather(*jobs, return_exceptions=True)
    await first
    refused = [each for each in outcomes if each is not None]
    assert all(isinstance(each, ApiError) and each.code == "busy" for each in refused)
    assert all(int(each.headers["Retry-After"]) >= 1 for each in refused if isinstance(each, ApiError))
    assert order == expected
    assert len(refused) == 72 + few - len(expected)


async def test_work_that_could_not_begin_in_time_is_refused_at_once(queues: Queues) -> None:
    queue, block = queues(waiting=10), Block()
    queue._mean_seconds["first"] = 10.0
    busy = await started(queue, block, None)
    waiting = await submitted(queue, "first", [], 3)
    CLIENT.set("first")
    with refusal("busy"):
        await queue.run(lambda: None, 50.0)
    CLIENT.set("another")
    other = asyncio.create_task(queue.run(lambda: "in its turn", 50.0))
    await asyncio.sleep(0)
    block.go.set()
    assert await other == "in its turn"
    await asyncio.gather(busy, *waiting)


async def test_a_client_with_slow_work_cannot_hold_the_reserved_thread(queues: Queues) -> None:
    queue, block = queues(workers=2, waiting=100, reserve=1), Block()
    order: list[str] = []
    CLIENT.set("slow")
    slow = [asyncio.create_task(queue.run(block, LONG)) for _ in range(6)]
    await asyncio.sleep(0)
    CLIENT.set("quick")
    for _ in range(20):
        await queue.run(lambda: order.append("quick"), LONG)
    assert queue._running == {"slow": 2}
    block.go.set()
    await asyncio.gather(*slow)
    assert order == ["quick"] * 20


async def test_a_free_thread_goes_first_to_a_client_of_whom_nothing_runs(queues: Queues) -> None:
    queue, held, other = queues(workers=2, waiting=10), Block(), Block()
    order: list[str] = []
    CLIENT.set("holder")
    holding = await started(queue, held)
    CLIENT.set("other")
    ending = await started(queue, other)
    jobs = [*await submitted(queue, "holder", order, 1), *await submitted(queue, "idle", order, 1)]
    other.go.set()
    await asyncio.gather(ending, *jobs)
    assert order == ["idle", "holder"], "the holder asked first and has a thread already"
    held.go.set()
    await holding


async def test_quick_clients_are_not_refused_because_another_is_slow(queues: Queues) -> None:
    queue, block = queues(waiting=100, reserve=1), Block()
    queue._mean_seconds["slow"], queue._mean_seconds["quick"] = 30.0, 0.01
    CLIENT.set("slow")
    slow = [asyncio.create_task(queue.run(block, None)) for _ in range(4)]
    await asyncio.sleep(0)
    CLIENT.set("quick")
    quick = [asyncio.create_task(queue.run(lambda: "done", LONG)) for _ in range(30)]
    assert await asyncio.gather(*quick) == ["done"] * 30
    block.go.set()
    await asyncio.gather(*slow)


def test_a_system_that_refuses_threads_is_told_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that could not be started when its job came left the job waiting, and the queue full for ever."""
    start, started = threading.Thread.start, list[str]()

    def refuse(thread: threading.Thread) -> None:
        if len(started) == 2:
            raise RuntimeError("can't start new thread")
        started.append(thread.name)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(MathAMRError, match=r"refuses to start 3 threads.*--limit workers=1"):
        WorkQueue("small", 2, 4, reserve=1)
