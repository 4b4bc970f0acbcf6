"""`Limits`: how much one request, and all requests together, may use of the server."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any

from mathamr.core.errors import MathAMRError, UnknownNameError


def _limit(default: float, help_text: str) -> Any:
    return field(default=default, metadata={"help": help_text})


@dataclass(frozen=True, slots=True)
class Limits:
    """Every limit with its default; the command line and the docs use this list."""

    body_bytes: int = _limit(1 << 20, "bytes of a request's body")
    body_seconds: float = _limit(10.0, "seconds until the whole body of a request must have arrived")
    head_seconds: float = _limit(
        10.0, "seconds until the head of a request, or of the next one, must have arrived"
    )
    send_seconds: float = _limit(30.0, "seconds a client may stop reading an answer")
    connections: int = _limit(
        500,
        "open connections; one more closes the one that has kept the server waiting longest, else one of the client with most; where all belong to one client, it gets 429",
    )
    query_characters: int = _limit(5000, "characters of a query or of LaTeX to render")
    formulas: int = _limit(50, "formulas in a query")
    sentences: int = _limit(100, "sentences in a query")
    k: int = _limit(100, "hits in one answer")
    depth: int = _limit(1000, "the last place that can be reached with offset and k")
    filters: int = _limit(50, "tags, kinds and sources of one filter")
    seconds: float = _limit(10.0, "seconds for one piece of work, and as many to wait for its turn")
    parsing: float = _limit(
        5.0, "seconds of a processor for an AMR parser other than the built-in one to read one query"
    )
    workers: int = _limit(max(1, min(4, os.cpu_count() or 1)), "queries that run at once")
    waiting: int = _limit(64, "queries that may wait for a worker; more are refused with 429")
    waiting_writes: int = _limit(16, "writes that may wait; more are refused with 429")
    posts: int = _limit(100, "posts in one write")
    written_formulas: int = _limit(
        20_000, "formulas of the posts in one write; more are refused with `too_complex`"
    )
    drawn_nodes: int = _limit(4000, "nodes of a graph that is drawn or sent")
    shown_characters: int = _limit(200_000, "characters of a post that are shown")

    def changed(self, assignments: Iterable[str]) -> Limits:
        """Return the limits with some of them set, each as `name=value`.

        >>> Limits().changed(["k=20", "seconds=2.5"]).k
        20
        >>> Limits().changed(["speed=9"])
        Traceback (most recent call last):
        mathamr.core.errors.UnknownNameError: unknown limit 'speed'; known: body_bytes, body_seconds, head_seconds, \
send_seconds, connections, query_characters, formulas, sentences, k, depth, filters, seconds, parsing, workers, waiting, waiting_writes, \
posts, written_formulas, drawn_nodes, shown_characters
        """
        values: dict[str, Any] = {}
        defaults: dict[str, Any] = {each.name: each.default for each in fields(self)}
        for assignment in assignments:
            name, _, written = assignment.partition("=")
            if name not in defaults:
                raise UnknownNameError("limit", name, list(defaults))
            kind = type(defaults[name])
            try:
                values[name] = kind(written)
            except ValueError as error:
                raise MathAMRError(
                    f"the limit {name} must be a number, got {written!r}; write {name}=NUMBER"
                ) from error
            least = 0 if name.startswith("waiting") else 1 if kind is int else 0.001
            if not least <= values[name] < 1 << 40:
                raise MathAMRError(f"the limit {name} must be at least {least}, got {written}")
        return replace(self, **values)

    def shown(self) -> dict[str, float]:
        """Return the limits that concern clients, by name."""
        hidden = ("head_seconds", "send_seconds", "connections")
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name not in hidden}
