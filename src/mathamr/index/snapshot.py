"""`Snapshot`: all parts of an index as they were at one revision, together.

The parts of an index are changed one after the other: posts first, then what is derived from them. A reader that opened
them one by one would find posts of one moment and vectors of another. So they are opened together at a moment when all of
them follow the posts, and it is looked again afterwards whether that moment has passed meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mathamr.errors import MathAMRError
from mathamr.index.catalogue.catalogue import CATALOGUE, Catalogue
from mathamr.index.catalogue.pinned import PinnedCatalogue
from mathamr.index.engines.engine import Engine
from mathamr.index.lexical.lexicalindex import LexicalIndex

ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The parts of one revision; they go when nobody uses them any more."""

    catalogue: PinnedCatalogue
    engine: Engine
    lexical: LexicalIndex

    @property
    def revision(self) -> int:
        """The revision of all parts."""
        return self.catalogue.pinned

    def close(self) -> None:
        """Lets go of the parts, for whoever knows that nobody uses them."""
        try:
            self.engine.close()
            self.lexical.close()
        finally:
            self.catalogue.close()


def take_snapshot(
    folder: Path,
    live: Catalogue,
    engine: Callable[[], Engine],
    lexical: Callable[[], LexicalIndex],
    *,
    settled: bool,
) -> Snapshot | None:
    """All parts at one revision; `None` while they are being changed, unless it need not be `settled`."""
    for _ in range(ATTEMPTS):
        catalogue = PinnedCatalogue(folder / CATALOGUE)
        try:
            if settled and not catalogue.settled:
                catalogue.close()
                return None
            found = Snapshot(catalogue, engine(), lexical())
        except BaseException:
            catalogue.close()
            if live.revision != catalogue.pinned or not live.settled:
                continue  # a writer was at work on what was being opened
            raise
        if not settled or (live.revision == found.revision and live.settled):
            return found
        found.close()
    if settled:
        return None
    raise MathAMRError(f"the index {folder} is being changed all the while; try again")
