"""`Snapshot`: all parts of an index at one revision.

A writer changes the posts first and then what is derived from them, so a reader that opened the parts one by one could
get posts and vectors of different revisions. A snapshot opens them together when all of them are up to date, and tries
again if the revision has changed meanwhile.
"""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from weakref import finalize

from mathamr.core.errors import MathAMRError
from mathamr.core.sqlite import SqliteConnection
from mathamr.core.storage.writerlock import holder_of
from mathamr.index.catalogue.catalogue import CATALOGUE, Catalogue
from mathamr.index.catalogue.journal import STAGES
from mathamr.index.engines.engine import Engine
from mathamr.index.lexical.lexicalindex import LexicalIndex
from mathamr.index.postfilters import PostFilters


class CatalogueSnapshot(Catalogue):
    """One connection inside one read transaction, which sees one state; threads take turns.

    While it is open, SQLite's write-ahead log grows with every write.
    """

    def __init__(self, path: Path) -> None:
        self._one: SqliteConnection | None = None
        self._turn = threading.RLock()
        super().__init__(path, read_only=True)
        with self._turn:
            self._db.execute("BEGIN")
        self._pinned = super().revision
        self._holders: dict[str, list[str]] | None = None
        self._asked = 0
        self._parents: dict[str, str] | None = None
        self._parents_asked = 0
        self._sources: Counter[str] | None = None

    @property
    def revision(self) -> int:
        """The revision of the snapshot."""
        return self._pinned

    @property
    def was_overtaken(self) -> bool:
        """True if it cannot see writers, and there has been one since."""
        return self._one is not None and self._one.was_overtaken

    @property
    def was_overwritten(self) -> bool:
        """True if it cannot keep writers from changing what it reads, and one has: what was read is in doubt."""
        return self._one is not None and self._one.was_overwritten

    @property
    def _db(self) -> SqliteConnection:
        with self._turn:
            if self._one is None:
                self._one = self._connected()
                self._connections.append(self._one)
            return self._one

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._turn:
            return super()._rows(sql, values)

    def sources(self) -> Counter[str]:
        """Return the number of posts from each source, which is counted once: filters by folder and counts beside hits ask each time."""
        if self._sources is None:
            self._sources = super().sources()
        return self._sources

    def posts_with(self, visuals: Sequence[str], most: int) -> dict[str, list[str]]:
        """Return the ids of the posts that have a formula of each visual class, from memory once they were asked for often enough."""
        self._asked += _ROWS_A_CALL
        if self._holders is None and self._asked < self._most_asked:
            return super().posts_with(visuals, most)
        holders = self.hold_occurrences()
        return {visual: posts[:most] for visual in visuals if (posts := holders.get(visual))}

    def parents(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the parents of posts, from memory once they were asked for often enough."""
        if self._parents is None:
            self._parents_asked += len(ids)
            if self._parents_asked < self._count or self._count > MOST_HELD:
                return super().parents(ids)
            self._parents = super().parents(list(self.ids()))
        return {each: parent for each in ids if (parent := self._parents.get(each)) is not None}

    @cached_property
    def _count(self) -> int:
        return len(self)

    @cached_property
    def _most_asked(self) -> float:
        count = self.count_formulas()
        return count if count <= MOST_HELD else math.inf

    def hold_occurrences(self) -> dict[str, list[str]]:
        """Return the posts that have a formula of each visual class, which are read once and kept if they are not too many."""
        if self._holders is None:
            found: dict[str, list[str]] = {}
            if self._most_asked < math.inf:
                for visual, post_id in self.every_occurrence():
                    found.setdefault(visual, []).append(post_id)
                self._holders = found
        return self._holders or {}

    def close(self) -> None:
        """End the transaction and close the connection."""
        with self._turn:
            super().close()
            self._one = None


MOST_HELD = 300_000
"""The most formulas whose posts, and the most posts whose parents, are kept in memory: about 60 MB."""
_ROWS_A_CALL = 4_000
"""How many formulas can be read in the time of a look-up in the file."""
ATTEMPTS = 20
LONGEST_WAIT = 10.0
"""Seconds for which the first snapshot waits for the end of a change of few posts."""
_PAUSE = 0.01
FEW_WAITING = 64
"""Up to this number, missing vectors are computed within moments, and the previous snapshot is used until then."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Snapshot:
    """The parts of one revision; they are closed when nobody refers to the snapshot any more, since they hold files open."""

    catalogue: CatalogueSnapshot
    engine: Engine
    lexical: LexicalIndex
    complete: bool = True
    """False if some parts were not up to date, because a writer was killed or has much to do."""

    filters: PostFilters = field(init=False)
    """What passes a filter at this revision."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "filters", PostFilters(self.catalogue, self.engine, self.lexical))
        for part in (self.catalogue, self.lexical, self.engine):
            finalize(self, part.close)

    @property
    def revision(self) -> int:
        """The revision of all parts."""
        return self.catalogue.revision


def take_snapshot(
    folder: Path,
    live: Catalogue,
    engine: Callable[[], Engine],
    lexical: Callable[[], LexicalIndex],
    before: Snapshot | None = None,
) -> Snapshot | None:
    """Open all parts at one revision; return `None` while they are being changed and there is a snapshot `before`.

    Without one, it waits for the end of a small change, whose parts do not fit together until then.
    """
    deadline = time.monotonic() + LONGEST_WAIT
    tries = 0
    while tries < ATTEMPTS or (before is None and time.monotonic() <= deadline):
        late = before is not None or time.monotonic() > deadline
        if tries and before is None:
            time.sleep(_PAUSE)
        tries += 1
        catalogue = CatalogueSnapshot(folder / CATALOGUE)
        complete = False
        try:
            complete = catalogue.settled
            if not (complete or late) and _ends_soon(catalogue, folder):
                catalogue.close()
                tries = 1  # waiting is not failing
                continue
            if not complete and before is not None:
                catalogue.close()
                return None
            found = Snapshot(catalogue, engine(), lexical(), complete)
        except BaseException:
            catalogue.close()
            same = live.revision == catalogue.revision and live.settled == complete
            if same and (complete or not holder_of(folder)):
                raise
            continue  # a writer changed the parts while they were opened
        if (live.revision == found.revision and live.settled) or (before is None and not complete):
            return found
    if before is not None:
        return None
    raise MathAMRError(
        f"the index {folder} changed each time while it was being opened; try again when its writer has finished"
    )


def _ends_soon(catalogue: Catalogue, folder: Path) -> bool:
    """Return True if a process is computing what is missing, and that is little."""
    is_small = catalogue.has_vectors and max(map(catalogue.count_pending, STAGES)) <= FEW_WAITING
    return is_small and holder_of(folder) is not None
