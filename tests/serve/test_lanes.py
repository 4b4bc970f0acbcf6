from __future__ import annotations

import asyncio
import threading

import pytest

from mathamr.serve.errors import ApiError
from mathamr.serve.lanes import Lane

LONG = 60.0


def test_work_beyond_threads_and_queue_is_sent_away_and_the_rest_is_done() -> None:
    lane = Lane("test", workers=1, waiting=1)
    go = threading.Event()

    async def scenario() -> list[object]:
        first = asyncio.create_task(lane.run(lambda: go.wait(LONG), LONG))
        second = asyncio.create_task(lane.run(lambda: "second", LONG))
        await asyncio.sleep(0)
        with pytest.raises(ApiError) as refused:
            await lane.run(lambda: "third", LONG)
        assert refused.value.code == "busy"
        assert refused.value.headers["Retry-After"] == "1"
        go.set()
        return list(await asyncio.gather(first, second))

    assert asyncio.run(scenario()) == [True, "second"]
    assert (lane.refused, lane.taken) == (1, 0)
    lane.close()


def test_late_work_is_answered_and_keeps_its_place_until_it_ends() -> None:
    lane = Lane("test", workers=1, waiting=0)
    go, ended = threading.Event(), threading.Event()

    def late() -> None:
        go.wait(LONG)
        ended.set()

    async def scenario() -> None:
        with pytest.raises(ApiError) as timed_out:
            await lane.run(late, 0.5)  # it begins sooner than that, also on a busy machine
        assert timed_out.value.code == "timeout"
        with pytest.raises(ApiError) as refused:
            await lane.run(lambda: None, LONG)
        assert refused.value.code == "busy"
        go.set()
        await asyncio.to_thread(ended.wait, LONG)
        while lane.taken:
            await asyncio.sleep(0.001)
        assert await lane.run(lambda: "again", LONG) == "again"

    asyncio.run(scenario())
    assert lane.timed_out == 1
    lane.close()


def test_work_that_waited_too_long_is_sent_away_and_gives_its_place_back_at_once() -> None:
    lane = Lane("test", workers=1, waiting=1)
    go, began = threading.Event(), threading.Event()

    def blocking() -> bool:
        began.set()
        return go.wait(LONG)

    async def scenario() -> None:
        first = asyncio.create_task(lane.run(blocking, LONG))
        await asyncio.to_thread(began.wait, LONG)
        with pytest.raises(ApiError) as sent_away:
            await lane.run(lambda: None, 0.01)
        assert sent_away.value.code == "busy"
        assert lane.taken == 1
        go.set()
        await first

    asyncio.run(scenario())
    lane.close()


def test_waiting_does_not_count_as_working() -> None:
    lane = Lane("test", workers=1, waiting=1)
    go, began = threading.Event(), threading.Event()

    def blocking() -> bool:
        began.set()
        return go.wait(LONG)

    async def scenario() -> list[object]:
        first = asyncio.create_task(lane.run(blocking, LONG))
        await asyncio.to_thread(began.wait, LONG)
        second = asyncio.create_task(lane.run(lambda: "second", LONG))
        await asyncio.sleep(0)
        go.set()
        return [await first, await second]

    assert asyncio.run(scenario()) == [True, "second"]
    assert lane.timed_out == lane.refused == 0
    lane.close()


def test_a_client_is_told_to_come_back_later_when_work_is_slow() -> None:
    lane = Lane("test", workers=1, waiting=0)
    go = threading.Event()
    lane._usual = 20.0

    async def scenario() -> int:
        first = asyncio.create_task(lane.run(lambda: go.wait(LONG), LONG))
        await asyncio.sleep(0)
        with pytest.raises(ApiError) as refused:
            await lane.run(lambda: None, LONG)
        go.set()
        await first
        return int(refused.value.headers["Retry-After"])

    assert asyncio.run(scenario()) == 20
    lane.close()


def test_an_exception_of_the_work_is_the_callers() -> None:
    lane = Lane("test", workers=1, waiting=0)
    with pytest.raises(ZeroDivisionError):
        asyncio.run(lane.run(lambda: 1 // 0, LONG))
    assert lane.taken == 0
    lane.close()


def test_a_closed_lane_says_that_it_is() -> None:
    lane = Lane("test", workers=1, waiting=0)
    lane.close()
    with pytest.raises(ApiError) as stopped:
        asyncio.run(lane.run(lambda: None, LONG))
    assert (stopped.value.code, lane.taken) == ("unavailable", 0)


def test_work_that_still_waits_when_the_lane_is_closed_is_answered() -> None:
    lane = Lane("test", workers=1, waiting=1)
    go, began = threading.Event(), threading.Event()

    def blocking() -> bool:
        began.set()
        return go.wait(LONG)

    async def scenario() -> None:
        first = asyncio.create_task(lane.run(blocking, None))
        await asyncio.to_thread(began.wait, LONG)
        second = asyncio.create_task(lane.run(lambda: "second", None))
        await asyncio.sleep(0)
        closing = asyncio.create_task(asyncio.to_thread(lane.close))
        with pytest.raises(ApiError) as stopped:
            await second
        assert stopped.value.code == "unavailable"
        go.set()
        assert await first is True
        await closing

    asyncio.run(scenario())
    assert lane.taken == 0
