"""`Snapshot`: all parts of an index as they were at one revision, together.

The parts of an index are changed one after the other: posts first, then what is derived from them. A reader that opened
them one by one would find posts of one moment and vectors of another. So they are opened together at a moment when all of
them follow the posts, and it is looked again afterwards whether that moment has passed meanwhile.

Words are made long before vectors. Where many vectors are still to be made, a snapshot has posts and words alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.index.catalogue.catalogue import CATALOGUE, Catalogue
from mathamr.index.catalogue.cataloguesnapshot import CatalogueSnapshot
from mathamr.index.engines.engine import Engine
from mathamr.index.lexical.lexicalindex import LexicalIndex

ATTEMPTS = 20
FEW_WAITING = 64
"""So many vectors are made in moments: the state before is searched as long."""
SHARE_WAITING = 0.1
"""While more of the posts than this wait for vectors, words alone, of all posts, say more than the state before."""


@dataclass(slots=True, eq=False)
class Snapshot:
    """The parts of one revision, and how many read them just now."""

    catalogue: CatalogueSnapshot
    engine: Engine | None
    """`None` while vectors are being made."""
    lexical: LexicalIndex
    readers: int = 0
    closed: bool = False

    @property
    def revision(self) -> int:
        """The revision of all parts."""
        return self.catalogue.pinned

    @property
    def words_only(self) -> bool:
        """Whether the vectors of this revision were not there yet."""
        return self.engine is None

    def close(self, shared: Engine | None = None) -> None:
        """Lets go of the parts, for whoever knows that nobody uses them; an engine that others use stays open."""
        self.closed = True
        try:
            if self.engine is not None and self.engine is not shared:
                self.engine.close()
            self.lexical.close()
        finally:
            self.catalogue.close()


def take_snapshot(
    folder: Path,
    live: Catalogue,
    engine: Callable[[], Engine],
    lexical: Callable[[], LexicalIndex],
    before: Snapshot | None = None,
) -> Snapshot | None:
    """All parts at one revision; `None` while they are being changed and there is one `before`."""
    for _ in range(ATTEMPTS):
        catalogue = CatalogueSnapshot(folder / CATALOGUE)
        words = False
        try:
            whole = catalogue.settled
            words = not whole and catalogue.has_words and (before is None or _is_worth(catalogue, before))
            if not whole and not words and before is not None:
                catalogue.close()
                return None
            found = Snapshot(catalogue, None if words else engine(), lexical())
        except BaseException:
            catalogue.close()
            if live.revision != catalogue.pinned or not (live.has_words if words else live.settled):
                continue  # a writer was at work on what was being opened
            raise
        still = live.revision == found.revision and (live.has_words if words else live.settled)
        if still or (before is None and not whole and not words):
            return found
        found.close()
    if before is not None:
        return None
    raise MathAMRError(f"the index {folder} is being changed all the while; try again")


def _is_worth(catalogue: Catalogue, before: Snapshot) -> bool:
    """Whether words of all posts are worth more than a state before that lacks some posts."""
    if before.words_only:
        return catalogue.revision != before.revision
    made, total = catalogue.vectors_made()
    return total - made > max(FEW_WAITING, SHARE_WAITING * total)
