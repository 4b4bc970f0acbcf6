"""`Rounds`: few requests begin in each round of the event loop, so that hundreds that arrive at once do not delay a health check."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque

PER_ROUND = 4
"""Requests that begin in one round, each about two milliseconds of work before it waits for a thread."""


class Rounds:
    """Requests that wait to begin, taken from their clients in turn; only used on the event loop."""

    def __init__(self, per_round: int = PER_ROUND) -> None:
        self._per_round, self._begun = per_round, 0
        self._is_running = False
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    async def enter(self, client: str) -> None:
        """Returns when a request of this client may begin; at once while few others do."""
        self._run_rounds()
        if self._begun < self._per_round and not self._waiting:
            self._begun += 1
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(client, deque()).append(place)
        await place

    def _run_rounds(self) -> None:
        if not self._is_running:
            self._is_running = True
            asyncio.get_running_loop().call_soon(self._next_round)

    def _next_round(self) -> None:
        """Lets the next requests begin; between two calls the loop looks for what has arrived."""
        self._begun = 0
        while self._waiting and self._begun < self._per_round:
            client, places = self._waiting.popitem(last=False)
            place = places.popleft()
            if places:
                self._waiting[client] = places
            if not place.done():
                place.set_result(None)
                self._begun += 1
        self._is_running = False
        if self._waiting:
            self._run_rounds()
