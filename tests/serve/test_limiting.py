"""Requests that arrive at once begin a few at a time, and clients take turns."""

from __future__ import annotations

import asyncio
from itertools import pairwise

from mathamr.serve.limiting import ClientTurns


def test_few_requests_begin_in_a_round_and_clients_take_turns() -> None:
    begun: list[str] = []

    async def request(turns: ClientTurns, client: str) -> None:
        await turns.enter(client)
        begun.append(client)

    async def main() -> list[int]:
        turns = ClientTurns(at_once=2)
        tasks = [asyncio.create_task(request(turns, client)) for client in "aaaaaaaab"]
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
        turns = ClientTurns(at_once=1)
        first, gone, waits = (asyncio.create_task(turns.enter("a")) for _ in range(3))
        await asyncio.sleep(0)  # the first has begun, the others wait
        gone.cancel()
        await asyncio.wait([first, gone, waits])
        return gone.cancelled()

    assert asyncio.run(main())
