"""`GuardedReading`: reads what clients of a server write in a process that is ended when a post takes too much.

A regular expression holds the interpreter's lock, and in a server no signal reaches the thread that waits for it: read in the server's
own process, one post could keep everybody waiting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from mathamr.core.workers import Lost, WorkerPool, WorkLimits
from mathamr.graphs.guarded import TooMuchWorkError
from mathamr.index.indexing.analysis import AnalysedPost, Unusable, analyse_all
from mathamr.index.lexical.terms import terms_fingerprint
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post
from mathamr.posts.report import Report

MEMORY = 2 << 30
MOST_REPAIRS = 20
"""Repairs of a post that its writer is told."""


class ReadPost(NamedTuple):
    """A post with its formulas, its analysis, and what had to be repaired."""

    post: Post
    analysed: AnalysedPost | Unusable
    repairs: list[str]


class PostWork:
    """The task of the process: it finds the formulas of posts and analyses them."""

    @property
    def identity(self) -> str:
        """The fingerprint of the rules for terms."""
        return terms_fingerprint()

    def __call__(self, request: tuple[list[Post], int]) -> list[ReadPost] | int:
        """Return the posts read, in their order; the number of their formulas if that is more than the request allows."""
        posts, most = request
        reports = [Report() for _ in posts]
        found = [_with_formulas(*each) for each in zip(posts, reports, strict=True)]
        count = sum(len(post.formulas) for post in found)
        if count > most:
            return count
        return [
            ReadPost(post, analysed, report.lines()[:MOST_REPAIRS])
            for post, analysed, report in zip(found, analyse_all(found), reports, strict=True)
        ]


def _with_formulas(post: Post, report: Report) -> Post:
    formulas = formulas_of(post.id, post.title, post.body, post.markup, report.note)
    return replace(post, formulas=formulas)


class GuardedReading:
    """The process, started for the first posts; another one follows a process that was ended."""

    def __init__(self, seconds: float) -> None:
        allowance = WorkLimits(processor=seconds, memory=MEMORY)
        self._pool = WorkerPool(f"{__name__}:PostWork", workers=1, allowance=allowance)

    @staticmethod
    @lru_cache(maxsize=1)
    def within(seconds: float) -> GuardedReading:
        """Return the process of this server, whose requests may take so many seconds of a processor each."""
        return GuardedReading(seconds)

    def read(self, posts: Sequence[Post], formulas: int) -> list[ReadPost]:
        """Return posts read, in their order; raise `TooMuchWorkError` if that takes more than is allowed, or they have more formulas."""
        answer = self._pool.ask((list(posts), formulas))
        if isinstance(answer, Lost):
            which = f"the post {posts[0].id!r} takes" if len(posts) == 1 else f"these {len(posts)} posts take"
            raise TooMuchWorkError(
                f"{which} more work than is allowed ({answer.message}); shorten what is written"
            )
        if isinstance(answer, int):
            which = f"the post {posts[0].id!r} has" if len(posts) == 1 else f"these {len(posts)} posts have"
            raise TooMuchWorkError(
                f"{which} {answer:,} formulas, and one write may have at most {formulas:,} (limit written_formulas); write them in parts"
            )
        found: list[ReadPost] = answer
        return found
