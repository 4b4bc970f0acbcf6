"""Processes that share a queue of connections take turns, and none waits for one that does not come."""

from __future__ import annotations

import socket

import pytest

from mathamr.serve.fairshare import PATIENCE, ConnectionCounts, FairListener
from mathamr.serve.sockets import bound


def connected(to: socket.socket, count: int) -> list[socket.socket]:
    return [socket.create_connection(to.getsockname()) for _ in range(count)]


def test_who_has_more_leaves_the_next_connection_to_the_other_but_not_for_ever() -> None:
    counts = ConnectionCounts(2)
    with FairListener(bound("127.0.0.1", 0), counts) as fair:
        fair.listen()
        clients = connected(fair, 4)
        taken = [fair.accept()[0]]  # the other is not there yet
        counts.tell(1)
        taken.append(fair.accept()[0])
        counts.own = 1
        counts.tell(1)
        taken.append(fair.accept()[0])  # as many as the other is not more
        counts.tell(2)
        for _ in range(PATIENCE):
            with pytest.raises(BlockingIOError):
                fair.accept()
        taken.append(fair.accept()[0])
        counts.own = 0
        counts.leave()
        counts.own = 1
        clients += connected(fair, 1)
        taken.append(fair.accept()[0])  # there is nobody to leave it to
        for each in (*clients, *taken):
            each.close()
