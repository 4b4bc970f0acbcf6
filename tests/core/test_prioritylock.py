"""A lock that those who are waited for take first."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from mathamr.core.prioritylock import PriorityLock, give_way


def started(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def wait_for_a_waiter(lock: PriorityLock) -> None:
    while not lock._waiting:
        time.sleep(0.001)


def test_whoever_waits_goes_before_a_loop_that_yields() -> None:
    lock, order = PriorityLock(patience=600), list[str]()

    def query() -> None:
        with lock:
            order.append("query")

    with lock.yielding():
        thread = started(query)
        wait_for_a_waiter(lock)
    for number in range(3):
        with lock.yielding():
            order.append(f"post {number}")
    thread.join(60)
    assert order == ["query", "post 0", "post 1", "post 2"]


def test_long_work_gives_way_where_it_can_stop() -> None:
    lock, order = PriorityLock(patience=600), list[str]()

    def query() -> None:
        with lock:
            give_way()  # whoever did not take the lock by yielding keeps it
            order.append("query")

    with lock.yielding():
        order.append("window 0")
        give_way()
        thread = started(query)
        wait_for_a_waiter(lock)
        order.append("window 1")
        give_way()
        assert lock.locked()
        order.append("window 2")
    thread.join(60)
    assert order == ["window 0", "window 1", "query", "window 2"]
    assert not lock.locked()
    give_way()
    assert not lock.locked()


def test_a_thread_that_yields_gets_its_turn_after_its_patience() -> None:
    lock, done = PriorityLock(patience=0.0), threading.Event()

    def write() -> None:
        with lock.yielding():
            done.set()

    lock._waiting = 1  # as if there were always another query
    started(write)
    assert done.wait(60)


def test_one_thread_at_a_time_holds_it_and_an_error_releases_it() -> None:
    lock, inside, most = PriorityLock(patience=0.001), 0, 0

    def work(take: Callable[[], object]) -> None:
        nonlocal inside, most
        for _ in range(50):
            try:
                with take():  # type: ignore[attr-defined]
                    inside += 1
                    most = max(most, inside)
                    inside -= 1
                    raise ValueError
            except ValueError:
                pass

    threads = [started(lambda: work(lambda: lock)), started(lambda: work(lock.yielding))]
    for thread in threads:
        thread.join(60)
    assert (most, inside) == (1, 0)
