"""`Holdings`: how much a catalogue holds, and what of its files it lacks."""

from __future__ import annotations

from dataclasses import dataclass

from mathamr.core.sqlite import Database
from mathamr.formulas.visualkey import UNREAD


@dataclass(frozen=True, slots=True)
class Holdings:
    """Counts of files and entries, of formulas that could not be read, and of pages of PDFs without formulas."""

    files: int
    entries: int
    unread_formulas: int = 0
    pages_without_formulas: int = 0


class CountsHoldings(Database):
    """The part of a catalogue that counts what it holds."""

    def holdings(self) -> Holdings:
        """Return how much the catalogue holds."""
        sql = (
            "SELECT (SELECT count(DISTINCT source) FROM posts WHERE deleted = 0 AND source != ''),"
            " (SELECT count(*) FROM posts WHERE deleted = 0),"
            " (SELECT count(*) FROM formulas WHERE visual > ? AND visual < ? AND gone = 0),"
            " (SELECT count(*) FROM posts WHERE deleted = 0 AND source LIKE '%.pdf'"
            "  AND NOT EXISTS (SELECT 1 FROM formulas WHERE post = posts.number))"
        )
        (counts,) = self._rows(sql, (UNREAD, f"{UNREAD}~"))
        return Holdings(*counts)
