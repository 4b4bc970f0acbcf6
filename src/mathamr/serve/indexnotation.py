"""`IndexNotation`: what the symbols of an index are introduced as, read from as many posts as there is time for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from mathamr.posts.post import Post
from mathamr.search.notation import NotationEntry, notation

LONGEST_POST = 200_000
"""Characters of a post that is read for the page; reading is only ended between posts."""


@dataclass
class IndexNotation:
    """The symbols of the first `count` posts of an index in some state, and the page of them once it is made."""

    state: str
    entries: list[NotationEntry]
    count: int
    is_whole: bool
    page: str = ""

    def __post_init__(self) -> None:
        self.by_symbol = {entry.symbol: entry for entry in self.entries if entry.introductions}

    @classmethod
    def read(cls, state: str, posts: Iterator[Post], seconds: float) -> IndexNotation:
        """Return the notation of posts, of which no more are read after some seconds."""
        reading = _InTime(posts, seconds)
        entries = notation(reading, parser=None)
        return cls(state, entries, reading.count, reading.is_whole)


class _InTime:
    """Posts until a time is over; `count` of them were read."""

    def __init__(self, posts: Iterator[Post], seconds: float) -> None:
        self._posts, self._seconds = posts, seconds
        self.count, self.is_whole = 0, False

    def __iter__(self) -> Iterator[Post]:
        end = time.monotonic() + self._seconds
        left_out = False
        for post in self._posts:
            if len(post.body) > LONGEST_POST:
                left_out = True
                continue
            yield post
            self.count += 1
            if time.monotonic() > end:
                return
        self.is_whole = not left_out
