"""Listing: what fulfils conditions alone, such as `tag:series`, best first by a rule that needs no query.

Questions, notes and statements come before answers and proofs, then what has more votes, then what stands earlier in the collection.
"""

from __future__ import annotations

from collections.abc import Iterator

from mathamr.core.batches import batches
from mathamr.index.engines.entry import Filter
from mathamr.index.storage import IndexStorage
from mathamr.posts.postkind import ANSWERING
from mathamr.search.conditioncheck import ConditionCheck
from mathamr.search.hits import LISTED_BY
from mathamr.search.results import RankedResult

_BATCH = 500


def list_passing(
    archive: IndexStorage, check: ConditionCheck | None, where: Filter | None, depth: int
) -> list[RankedResult]:
    """Return the first posts that pass a filter and the conditions that look at texts."""
    found: list[RankedResult] = []
    for batch in batches(_in_order(archive, where), _BATCH):
        passed = check.passing(batch) if check is not None else batch
        found += (RankedResult(each, 1.0, {LISTED_BY: 1.0}) for each in batch if each in passed)
        if len(found) >= depth:
            break
    return found[:depth]


def _in_order(archive: IndexStorage, where: Filter | None) -> Iterator[str]:
    """Yield the posts that pass a filter, best first."""
    passing = archive.filters.posts(where)
    ids = [each for each in archive.catalogue.ids() if each in passing]
    payloads = {
        name: payload
        for batch in batches(ids, _BATCH)
        for name, payload in archive.payloads("posts", batch).items()
    }

    def place(identifier: str) -> tuple[bool, int]:
        payload = payloads.get(identifier)
        if payload is None:
            return True, 0
        return payload.kind in ANSWERING, -(payload.score or 0)

    yield from sorted(ids, key=place)
