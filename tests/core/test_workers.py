from __future__ import annotations

import threading

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.core.workers import Lost, WorkerPool, WorkLimits, _Worker

FACTORY = "tests.works:Doubling"


def test_answers_come_in_the_order_of_the_requests() -> None:
    requests = [0.3, 0.0, 0.1, *range(40)]
    with WorkerPool(FACTORY, ["hi"], workers=2) as pool:
        assert pool.identity == "hi"
        assert list(pool.map(requests)) == [(request, request * 2) for request in requests]
        assert list(pool.map([])) == []


def test_only_a_few_requests_are_read_before_they_are_needed() -> None:
    read: list[int] = []

    def requests():  # type: ignore[no-untyped-def]
        for number in range(1000):
            read.append(number)
            yield number

    with WorkerPool(FACTORY, ["hi"], workers=2) as pool:
        answers = pool.map(requests())
        next(answers)
        assert len(read) < 20
        answers.close()


def test_who_asks_for_nothing_behind_the_last_answer_may_ask_again() -> None:
    with WorkerPool(FACTORY, ["hi"], workers=2) as pool:
        answers = pool.map([1, 2])
        assert [next(answers), next(answers)] == [(1, 2), (2, 4)]
        answers.close()
        assert list(pool.map([3])) == [(3, 6)]


def test_answers_that_nobody_waits_for_are_not_made_to_their_end(monkeypatch: pytest.MonkeyPatch) -> None:
    is_asked, ask = threading.Event(), _Worker.ask

    def tell(self: _Worker, request: object) -> object:
        if request == "sleep":
            is_asked.set()
        return ask(self, request)

    monkeypatch.setattr(_Worker, "ask", tell)
    with WorkerPool(FACTORY, ["hi"], workers=1) as pool:
        answers = pool.map([1, "sleep"])
        next(answers)
        assert is_asked.wait(60)
        answers.close()
        assert pool.closed


def test_a_dying_worker_costs_only_its_own_request() -> None:
    with WorkerPool(FACTORY, ["hi"], workers=2, allowance=WorkLimits(60)) as pool:
        answers = dict(pool.map([1, "die", 2, 3, "print", 4]))
    lost = answers.pop("die")
    assert isinstance(lost, Lost)
    assert lost.cause == "worker died"
    assert "exit code 7" in lost.message
    assert answers == {1: 2, 2: 4, 3: 6, "print": "printprint", 4: 8}


@pytest.mark.slow
def test_a_hanging_worker_is_ended() -> None:
    with WorkerPool(FACTORY, ["hi"], workers=1, allowance=WorkLimits(2)) as pool:
        assert pool.ask("sleep") == Lost("time-out", "no answer within 2 s")
        # On a busy machine an answer may be late as well, but not every time.
        assert 2 in (pool.ask(1) for _ in range(20))


def test_one_request_is_asked_without_others_however_long_it_is_and_whoever_was_lost_before() -> None:
    long = "x" * 300_000
    with WorkerPool(FACTORY, ["hi"], workers=1) as pool:
        assert pool.ask(long) == 2 * long
        assert pool.ask("die") == Lost("worker died", "the process ended with exit code 7")
        assert pool.ask(21) == 42


def test_an_error_of_the_work_reaches_the_caller() -> None:
    with pytest.raises(MathAMRError, match="install one"):
        WorkerPool(FACTORY, ["fail"])
    with pytest.raises(MathAMRError, match="ended while loading"):
        WorkerPool(FACTORY, ["die"])
    with pytest.raises(MathAMRError, match="at least 1"):
        WorkerPool(FACTORY, ["hi"], workers=0)


def test_closed_workers_refuse_to_work() -> None:
    pool = WorkerPool(FACTORY, ["hi"], workers=1)
    pool.close()
    with pytest.raises(MathAMRError, match="closed"):
        list(pool.map([1]))


def test_a_request_that_was_never_sent_does_not_keep_a_dead_worker_from_being_stopped() -> None:
    worker = _Worker(FACTORY, ["hi"], WorkLimits(60))
    worker.start()
    worker.wait_until_ready()
    process = worker._process
    assert process is not None
    assert process.stdin is not None
    process.stdin.write(b"waits in the buffer")
    process.kill()
    process.wait()
    worker.close()
    assert process.stdin.closed


@pytest.mark.slow
def test_a_processor_that_is_used_too_long_is_taken_away_even_inside_a_library() -> None:
    with WorkerPool(FACTORY, ["hi"], workers=1, allowance=WorkLimits(60, processor=0.5)) as pool:
        answers = dict(pool.map(["backtrack", 0.9, 1]))
    assert answers["backtrack"] == Lost("time-out", "no answer within 0.5 s of a processor")
    assert (answers[0.9], answers[1]) == (1.8, 2), "waiting costs no processor"


def test_memory_above_the_allowance_is_not_given() -> None:
    with WorkerPool(FACTORY, ["hi"], workers=1, allowance=WorkLimits(60, memory=200 << 20)) as pool:
        answers = dict(pool.map([1, "memory", 2]))
    assert isinstance(answers.pop("memory"), Lost)
    assert answers == {1: 2, 2: 4}
