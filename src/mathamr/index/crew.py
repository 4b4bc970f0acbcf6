"""`Crew`: visual keys and terms of many posts, in several processes; few posts are done here and now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import cached_property
from types import TracebackType
from typing import Any, Self, TypeVar

from mathamr.batches import batches
from mathamr.errors import MathAMRError
from mathamr.index.entries import visual_keys
from mathamr.index.terms import Terms, formula_terms, post_terms
from mathamr.posts.post import Formula, Post
from mathamr.workers import Lost, WorkerPool

CHUNK = 24
FEW = 64
"""So few posts are not worth processes of their own."""
T = TypeVar("T")
Look = tuple[Formula, tuple[str, ...]]
"""A formula, and the macros it is read with."""


class CrewWork:
    """What a worker does: a list of posts or formulas as JSON becomes a list of their keys or terms."""

    hello = ""

    def __call__(self, request: list[Any]) -> list[Any]:
        """One answer an item; the request begins with what is wanted."""
        wanted, *items = request
        if wanted == "looks":
            return [formula_terms(Formula(**formula), tuple(macros)) for formula, macros in items]
        make: Callable[[Post], Any] = visual_keys if wanted == "keys" else post_terms
        return [make(Post.from_json(line)) for line in items]


class Crew:
    """Workers that start when there is enough to do for the first time; a context manager."""

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers

    def visual_keys(self, posts: Sequence[Post]) -> Iterator[list[str]]:
        """The visual keys of the formulas of each post."""
        yield from self._made("keys", posts, Post.to_json, visual_keys)

    def post_terms(self, posts: Sequence[Post]) -> Iterator[Terms]:
        """The terms of each post."""
        yield from self._made("terms", posts, Post.to_json, post_terms)

    def formula_terms(self, looks: Sequence[Look]) -> Iterator[Terms]:
        """The terms of each formula."""
        yield from self._made(
            "looks", looks, lambda look: (asdict(look[0]), look[1]), lambda look: formula_terms(*look)
        )

    def _made(
        self, wanted: str, items: Sequence[T], sent: Callable[[T], Any], make: Callable[[T], Any]
    ) -> Iterator[Any]:
        if self.workers < 2 or len(items) <= FEW:
            yield from map(make, items)
            return
        requests = ([wanted, *map(sent, chunk)] for chunk in batches(items, CHUNK))
        for _, answer in self._pool.map(requests):
            if isinstance(answer, Lost):
                raise MathAMRError(
                    f"a worker was lost ({answer.message}); run the command again, it goes on from here"
                )
            yield from answer

    @cached_property
    def _pool(self) -> WorkerPool:
        return WorkerPool("mathamr.index.crew:CrewWork", workers=self.workers)

    def close(self) -> None:
        """Ends the workers."""
        pool = self.__dict__.pop("_pool", None)
        if pool is not None:
            pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
