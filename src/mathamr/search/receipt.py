"""`Receipt`: what a search looked at, so that "not here" can be judged: how much there is, what could not be read, how old it is."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from mathamr.index.catalogue.holdings import Holdings
from mathamr.index.freshness import FileChanges


@dataclass(frozen=True, slots=True)
class Receipt:
    """What an index holds and what of its files it lacks."""

    holdings: Holdings
    updated: str
    """When the index was last brought up to date, as ISO 8601; empty if that is unknown."""
    changes: FileChanges = field(default_factory=FileChanges)
    """What became of the files since, as far as it was looked at: a search looks where it denies something."""

    def __str__(self) -> str:
        """Return it as one line.

        >>> print(Receipt(Holdings(12, 336, 3, 1), "2026-11-19T08:12:00+00:00"))
        looked through 336 entries of 12 files, as they were on 19 November 2026; 3 formulas could not be read; 1 page of a PDF has no formulas
        >>> print(Receipt(Holdings(1, 1), "", FileChanges(changed=2)))
        looked through 1 entry of 1 file; files since then: 2 changed
        """
        files, entries, unread, pages = asdict(self.holdings).values()
        day = _day(self.updated)
        when = f", as they were on {day}" if day else ""
        parts = [
            f"looked through {_counted(entries, 'entry', 'entries')} of {_counted(files, 'file', 'files')}{when}"
        ]
        if unread:
            parts.append(f"{_counted(unread, 'formula', 'formulas')} could not be read")
        if pages:
            parts.append(
                f"{pages:,} {'page of a PDF has' if pages == 1 else 'pages of PDFs have'} no formulas"
            )
        if self.changes:
            parts.append(f"files since then: {self.changes}")
        return "; ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        changes = {f"{what}_files": count for what, count in asdict(self.changes).items()}
        return {**asdict(self.holdings), "updated": self.updated, **changes, "text": str(self)}


def _counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _day(updated: str) -> str:
    """Return the day of a time in ISO 8601; empty if it is none."""
    try:
        when = datetime.fromisoformat(updated).astimezone(UTC)
    except ValueError:
        return ""
    return f"{when.day} {when:%B %Y}"
