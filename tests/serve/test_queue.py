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

LONG = 60.0


def blocking_work() -> tuple[Callable[[], bool], threading.Event, threading.Event]:
    """Work that waits, an event that says that it has begun, and one that lets it go on."""
    began, go = threading.Event(), threading.Event()

    def work() -> bool:
        began.set()
        return go.wait(LONG)

    return work, began, go


def test_work_beyond_threads_and_queue_is_sent_away_and_the_rest_is_done() -> None:
    queue = WorkQueue("test", workers=1, waiting=1)
    go = threading.Event()

    async def scenario() -> list[object]:
        first = asyncio.create_task(queue.run(lambda: go.wait(LONG), LONG))
        second = asyncio.create_task(queue.run(lambda: "second", LONG))
        await asyncio.sleep(0)
        with pytest.raises(ApiError) as refused:
            await queue.run(lambda: "third", LONG)
        assert refused.value.code == "busy"
        assert refused.value.headers["Retry-After"] == "1"
        go.set()
        return list(await asyncio.gather(first, second))

    assert asyncio.run(scenario()) == [True, "second"]
    assert (queue.refused, queue.taken) == (1, 0)
    queue.close()


def test_late_work_is_answered_and_keeps_its_place_until_it_ends() -> None:
    queue = WorkQueue("test", workers=1, waiting=0)
    go, ended = threading.Event(), threading.Event()

    def late() -> None:
        go.wait(LONG)
        ended.set()

    async def scenario() -> None:
        code = "busy"
        while code == "busy":  # on a busy machine it may not even begin in that time
            with pytest.raises(ApiError) as timed_out:
                await queue.run(late, 0.2)
            code = timed_out.value.code
        assert code == "timeout"
        with pytest.raises(ApiError) as refused:
            await queue.run(lambda: None, LONG)
        assert refused.value.code == "busy"
        go.set()
        await asyncio.to_thread(ended.wait, LONG)
        while queue.taken:
            await asyncio.sleep(0.001)
        assert await queue.run(lambda: "again", LONG) == "again"

    asyncio.run(scenario())
    assert queue.timed_out == 1
    queue.close()


def test_late_work_is_cancelled_and_a_write_is_not() -> None:
    queue = WorkQueue("test", workers=1, waiting=0)
    ended = threading.Event()

    def endless() -> None:
        try:
            while True:
                check_cancelled()
        finally:
            ended.set()

    async def scenario() -> None:
        with pytest.raises(ApiError) as timed_out:
            await queue.run(endless, 0.2)
        assert timed_out.value.code in ("timeout", "busy")
        if timed_out.value.code == "timeout":
            assert await asyncio.to_thread(ended.wait, LONG)
        work, began, go = blocking_work()

        def write() -> str:
            work()
            check_cancelled()
            return "written"

        while queue.taken:
            await asyncio.sleep(0.001)
        writing = asyncio.create_task(queue.run(write, None))
        await asyncio.to_thread(began.wait, LONG)
        writing.cancel()
        go.set()
        with pytest.raises(asyncio.CancelledError):
            await writing

    asyncio.run(scenario())
    queue.close()


def test_work_that_waited_too_long_is_sent_away_and_gives_its_place_back_at_once() -> None:
    queue = WorkQueue("test", workers=1, waiting=1)
    blocking, began, go = blocking_work()

    async def scenario() -> None:
        first = asyncio.create_task(queue.run(blocking, LONG))
        await asyncio.to_thread(began.wait, LONG)
        with pytest.raises(ApiError) as sent_away:
            await queue.run(lambda: None, 0.01)
        assert sent_away.value.code == "busy"
        assert queue.taken == 1
        go.set()
        await first

    asyncio.run(scenario())
    queue.close()


def test_waiting_does_not_count_as_working() -> None:
    queue = WorkQueue("test", workers=1, waiting=1)
    blocking, began, go = blocking_work()

    async def scenario() -> list[object]:
        first = asyncio.create_task(queue.run(blocking, LONG))
        await asyncio.to_thread(began.wait, LONG)
        second = asyncio.create_task(queue.run(lambda: "second", LONG))
        await asyncio.sleep(0)
        go.set()
        return [await first, await second]

    assert asyncio.run(scenario()) == [True, "second"]
    assert queue.timed_out == queue.refused == 0
    queue.close()


def test_a_client_is_told_to_come_back_later_when_work_is_slow() -> None:
    queue = WorkQueue("test", workers=1, waiting=0)
    go = threading.Event()
    queue._mean_seconds[""] = 20.0

    async def scenario() -> int:
        first = asyncio.create_task(queue.run(lambda: go.wait(LONG), LONG))
        await asyncio.sleep(0)
        with pytest.raises(ApiError) as refused:
            await queue.run(lambda: None, LONG)
        go.set()
        await first
        return int(refused.value.headers["Retry-After"])

    assert asyncio.run(scenario()) == 20
    queue.close()


def test_an_exception_of_the_work_is_the_callers() -> None:
    queue = WorkQueue("test", workers=1, waiting=0)
    with pytest.raises(ZeroDivisionError):
        asyncio.run(queue.run(lambda: 1 // 0, LONG))
    assert queue.taken == 0
    queue.close()


def test_a_closed_lane_says_that_it_is() -> None:
    queue = WorkQueue("test", workers=1, waiting=0)
    queue.close()
    with pytest.raises(ApiError) as stopped:
        asyncio.run(queue.run(lambda: None, LONG))
    assert (stopped.value.code, queue.taken) == ("unavailable", 0)


def test_work_that_still_waits_when_the_queue_is_closed_is_answered() -> None:
    queue = WorkQueue("test", workers=1, waiting=1)
    blocking, began, go = blocking_work()

    async def scenario() -> None:
        first = asyncio.create_task(queue.run(blocking, None))
        await asyncio.to_thread(began.wait, LONG)
        second = asyncio.create_task(queue.run(lambda: "second", None))
        await asyncio.sleep(0)
        closing = asyncio.create_task(asyncio.to_thread(queue.close))
        with pytest.raises(ApiError) as stopped:
            await second
        assert stopped.value.code == "unavailable"
        go.set()
        assert await first is True
        await closing

    asyncio.run(scenario())
    assert queue.taken == 0


@contextmanager
def one_busy_thread(queue: WorkQueue) -> Iterator[threading.Event]:
    """Keeps the only thread of a queue busy until the event is set."""
    blocking, began, go = blocking_work()

    thread = threading.Thread(target=lambda: asyncio.run(queue.run(blocking, None)))
    thread.start()
    assert began.wait(LONG)
    try:
        yield go
    finally:
        go.set()
        thread.join()
        queue.close()


async def submitted(queue: WorkQueue, client: str, order: list[str], count: int) -> list[asyncio.Task[None]]:
    """So many jobs of a client, in the queue when this returns; each notes when it runs."""

    async def job() -> None:
        CLIENT.set(client)
        await queue.run(lambda: order.append(client), LONG)

    tasks = [asyncio.create_task(job()) for _ in range(count)]
    await asyncio.sleep(0)
    return tasks


def test_clients_take_turns_however_many_requests_one_of_them_has() -> None:
    queue = WorkQueue("test", workers=1, waiting=100)
    order: list[str] = []

    async def scenario(go: threading.Event) -> None:
        many = await submitted(queue, "many", order, 72)
        few = await submitted(queue, "few", order, 2)
        go.set()
        await asyncio.gather(*many, *few)

    with one_busy_thread(queue) as go:
        asyncio.run(scenario(go))
    assert [place for place, client in enumerate(order) if client == "few"] == [1, 3]
    assert len(order) == 74


def test_in_a_full_queue_a_client_with_few_requests_displaces_one_of_the_client_with_most() -> None:
    queue = WorkQueue("test", workers=1, waiting=10)
    order: list[str] = []

    async def scenario(go: threading.Event) -> list[BaseException | None]:
        many = await submitted(queue, "many", order, 72)
        few = await submitted(queue, "few", order, 8)
        go.set()
        return await asyncio.gather(*many, *few, return_exceptions=True)

    with one_busy_thread(queue) as go:
        outcomes = asyncio.run(scenario(go))
    refused = [each for each in outcomes if each is not None]
    assert all(isinstance(each, ApiError) and each.code == "busy" for each in refused)
    assert all(int(each.headers["Retry-After"]) >= 1 for each in refused if isinstance(each, ApiError))
    assert order == ["many", "few"] * 5
    assert queue.refused == len(refused) == 70


def test_work_that_could_not_begin_in_time_is_refused_at_once() -> None:
    queue = WorkQueue("test", workers=1, waiting=10)
    queue._mean_seconds["first"] = 10.0

    async def scenario(go: threading.Event) -> None:
        waiting = await submitted(queue, "first", [], 3)
        CLIENT.set("first")
        with pytest.raises(ApiError) as refused:
            await queue.run(lambda: None, 50.0)
        assert refused.value.code == "busy"
        assert not go.is_set()
        CLIENT.set("another")
        other = asyncio.create_task(queue.run(lambda: "in its turn", 50.0))
        await asyncio.sleep(0)
        go.set()
        assert await other == "in its turn"
        await asyncio.gather(*waiting)

    with one_busy_thread(queue) as go:
        asyncio.run(scenario(go))


def test_a_client_with_slow_work_cannot_hold_the_reserved_thread() -> None:
    queue = WorkQueue("test", workers=2, waiting=100, reserve=1)
    order: list[str] = []

    async def scenario(go: threading.Event) -> None:
        slow = []
        for _ in range(6):
            CLIENT.set("slow")
            slow.append(asyncio.create_task(queue.run(lambda: go.wait(LONG), LONG)))
            await asyncio.sleep(0)
        for _ in range(20):
            CLIENT.set("quick")
            await queue.run(lambda: order.append("quick"), LONG)
        assert queue._running == {"slow": 2}
        go.set()
        await asyncio.gather(*slow)

    asyncio.run(scenario(threading.Event()))
    assert order == ["quick"] * 20
    queue.close()


def test_quick_clients_are_not_refused_because_another_is_slow() -> None:
    queue = WorkQueue("test", workers=1, waiting=100, reserve=1)
    queue._mean_seconds["slow"], queue._mean_seconds["quick"] = 30.0, 0.01

    async def scenario(go: threading.Event) -> None:
        CLIENT.set("slow")
        slow = [asyncio.create_task(queue.run(lambda: go.wait(LONG), None)) for _ in range(4)]
        await asyncio.sleep(0)
        CLIENT.set("quick")
        quick = [asyncio.create_task(queue.run(lambda: "done", LONG)) for _ in range(30)]
        assert await asyncio.gather(*quick) == ["done"] * 30
        go.set()
        await asyncio.gather(*slow)

    asyncio.run(scenario(threading.Event()))
    queue.close()


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
