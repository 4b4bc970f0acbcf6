"""`IndexNotation`: what the symbols of an index are introduced as, read in short parts while the index is served."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping

from mathamr.core.errors import MathAMRError
from mathamr.index.storage import IndexStorage
from mathamr.search.notation import Notation, NotationEntry

LONGEST_POST = 200_000
"""Characters of a post that is read; reading is only ended between posts."""
MOST_KEPT = 5_000
"""Posts whose notation is kept beside that of all, so that an update of the index reads only what it changed."""
PART = 0.25
"""Seconds of a part that is read in the background, for which a request may have to wait."""


class IndexNotation:
    """The notation of the first `count` of `total` posts of an index at its newest state; `left_out` are damaged or too long."""

    def __init__(self, archive: IndexStorage) -> None:
        self._archive = archive
        self._lock = threading.Lock()
        self._state = ""
        self._notation = Notation()
        self._waiting: deque[str] = deque()
        self._kept: dict[int, Notation] = {}
        self._before: Mapping[int, Notation] = {}
        self._entries: list[NotationEntry] | None = None
        self._is_at_work = False
        self.count = self.total = self.left_out = 0
        self.page = ""
        """The page of what was read, once it is made."""

    @property
    def is_read(self) -> bool:
        """True if every post was read or left out."""
        return bool(self._state) and not self._waiting

    @property
    def is_whole(self) -> bool:
        """True if every post was read."""
        return self.is_read and not self.left_out

    def read_on(self, seconds: float) -> None:
        """Read further posts until a time is over; at least one, if there is one, and from the first if the index has changed."""
        end = time.monotonic() + seconds
        with self._lock:
            self._begin()
            while self._waiting:
                self._add(self._waiting[0])
                self._waiting.popleft()
                self._entries = None
                if time.monotonic() > end:
                    return
            self._before = {}

    def keep_reading(self, seconds: float, start: Callable[[Callable[[], None]], None]) -> None:
        """Read for a time, and what is left then in short parts, each a piece of work that `start` begins in the background."""
        with self._lock:
            if self._is_at_work:
                return
            self._is_at_work = True
        self._read_part(seconds, start)

    def _read_part(self, seconds: float, start: Callable[[Callable[[], None]], None]) -> None:
        is_begun = False
        try:
            with self._archive.reading():
                self.read_on(seconds)
            if not self.is_read:
                start(lambda: self._read_part(PART, start))
                is_begun = True
        finally:
            self._is_at_work = is_begun

    def entries(self) -> list[NotationEntry]:
        """Return the symbols of the posts that were read, sorted as in a book."""
        with self._lock:
            if self._entries is None:
                self._entries, self.page = self._notation.entries(), ""
            return self._entries

    def _add(self, post_id: str) -> None:
        try:
            post = self._archive.catalogue.post(post_id)
        except MathAMRError:  # a damaged post, which `mathamr check` names
            post = None
        if post is None or len(post.body) > LONGEST_POST:
            self.left_out += 1
            return
        name = hash(post)
        read = self._before.get(name) or Notation.of([post], None)
        if len(self._kept) < MOST_KEPT:
            self._kept[name] = read
        self._notation.add(read)
        self.count += 1

    def _begin(self) -> None:
        """Begin with the first post if the index is not the one that was read."""
        catalogue = self._archive.catalogue
        state = f"{self._archive.manifest.updated} {catalogue.revision}"
        if state == self._state:
            return
        self._before, self._kept = {**self._before, **self._kept}, {}
        self._state, self._notation, self._entries = state, Notation(), None
        self._waiting = deque(catalogue.ids())
        self.count, self.left_out, self.total = 0, 0, len(self._waiting)
