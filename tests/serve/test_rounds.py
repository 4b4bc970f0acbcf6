"""Requests that arrive at once begin a few at a time, and clients take turns."""

from __future__ import annotations

import asyncio
from itertools import pairwise

from mathamr.serve.rounds import Rounds


def test_few_requests_begin_in_a_round_and_clients_take_turns() -> None:
    begun: list[str] = []

    async def request(rounds: Rounds, client: str) -> None:
        await rounds.enter(client)
        begun.append(client)

    async def main() -> list[int]:
        rounds = Rounds(per_round=2)
        tasks = [asyncio.create_task(request(rounds, client)) for client in "aaaaaaaab"]
        counts = []
        while not all(task.done() for task in tasks):
            counts.append(len(begun))
            await asyncio.sleep(0)
        return counts

    counts = asyncio.run(main())
    assert sorted(begun) == list("aaaaaaaab")
    assert begun.index("b") <= 4, "a client with one request does not wait for all of another one"
    assert all(after - before <= 2 for before, after in pairwise(counts))


def test_a_request_that_nobody_waits_for_takes_no_place() -> None:
    async def main() -> bool:
        rounds = Rounds(per_round=1)
        first, gone, waits = (asyncio.create_task(rounds.enter("a")) for _ in range(3))
        await asyncio.sleep(0)  # the first has begun, the others wait
        gone.cancel()
        await asyncio.wait([first, gone, waits])
        return gone.cancelled()

    assert asyncio.run(main())
