"""`LexicalIndex`: BM25 over the terms of posts and of formulas, in a folder that is updated without a rebuild.

Only counts are stored. The statistics of BM25 (how many entries have a term, their average length) are computed over the
existing entries for each query: an index that was updated a thousand times scores exactly like one that was built at once.
Libraries that store final scores, such as bm25s, must be rebuilt after changes.
"""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Self

import numpy as np

from mathamr.core.arrays import DoubleArray, IndexArray
from mathamr.core.closing import Closing
from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.index.identifiers import check_id
from mathamr.index.lexical.bags import Bag, bag_of, term_number
from mathamr.index.lexical.impacts import Impacts
from mathamr.index.lexical.segments import Change, Segments, create, segment_list
from mathamr.index.lexical.terms import FIELDS, Terms
from mathamr.index.scored import Scored, best, check_k

BATCH = 5_000
"""Number of entries of an update that are held in memory; a larger update writes several segments."""
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class Weighting:
    """How terms are weighted: BM25 with a stronger preference for rare terms, and a weight for each field.

    A term that occurs n times in the query and f times in an entry adds
    ``log(1 + n) · idf^rarity · f / (f + k1 · (1 - b + b · length / average length))`` to the entry's score.
    """

    fields: Mapping[str, float]
    k1: float = 2.0
    b: float = 0.9
    rarity: float = 1.5

    def __post_init__(self) -> None:
        for field, weight in self.fields.items():
            if field not in FIELDS:
                raise UnknownNameError("field", field, list(FIELDS))
            if not math.isfinite(weight) or weight < 0:
                raise MathAMRError(f"the weight of the field {field!r} must be at least 0, not {weight}")


POSTS = Weighting(
    {"words": 1.0, "stems": 1.0, "names": 0.15, "latex": 0.2, "paths": 0.1, "parts": 0.75, "shapes": 0.3}
)
DECLARATIONS = replace(POSTS, fields={**POSTS.fields, "names": 0.0}, k1=0.9, b=0.4, rarity=1.0)
"""For posts of an index that holds declarations, whose names consist of common words, so that their misspellings only disturb."""
FORMULAS = Weighting({"latex": 0.5, "paths": 0.25, "parts": 0.5, "shapes": 1.0}, k1=1.0, b=0.75)
"""Chosen on known items of training pairs and by cross-validation over topics, see lab/notes/ranking.md."""


class LexicalPart:
    """The entries of one kind, posts or formulas: the id and the terms of each.

    Reads are safe from several threads while one thread writes. Entries are safe on disk when `update` returns.
    """

    def __init__(
        self, folder: Path, weighting: Weighting, *, read_only: bool = False, batch: int = BATCH
    ) -> None:
        self.weighting = weighting
        self._folder, self._batch = folder, batch
        self._read_only = read_only
        self._writing = threading.Lock()
        if not read_only:
            create(folder)
            segment_list(folder).remove_unlisted()
        self._impacts = Impacts(Segments.read(folder))
        self._last: tuple[Impacts, Terms, Weighting, DoubleArray] | None = None

    @property
    def _state(self) -> Segments:
        return self._impacts.state

    def count(self) -> int:
        """The number of entries."""
        return self._state.count

    def ids(self) -> Iterator[str]:
        """The ids of all entries."""
        state = self._state
        return iter(state.ids(np.flatnonzero(state.mask(None))))

    def search(
        self,
        terms: Terms,
        k: int,
        where: Collection[str] | None = None,
        weighting: Weighting | None = None,
    ) -> Sequence[Scored]:
        """The k best entries that share a term with the query, best first, ties by id.

        A score is divided by the highest possible score of the query's terms, so that scores of different queries are
        comparable. `where` restricts the search to these ids.
        """
        check_k(k)
        impacts = self._impacts
        state = impacts.state
        scores = self._totals(impacts, terms, weighting or self.weighting)
        chosen = np.flatnonzero((scores > 0) & state.mask(where))
        if len(chosen) > k:
            least = np.partition(scores[chosen], -k)[-k]
            chosen = chosen[scores[chosen] >= least - _ROUNDING]
        return best(state.ids(chosen), scores[chosen], k)

    def score(
        self, terms: Terms, ids: Collection[str], weighting: Weighting | None = None
    ) -> Sequence[Scored]:
        """The scores of these entries, best first, 0 for those that share no term; unknown ids are left out."""
        impacts = self._impacts
        chosen = np.flatnonzero(impacts.state.mask(ids))
        scores = self._totals(impacts, terms, weighting or self.weighting)
        return best(impacts.state.ids(chosen), scores[chosen], len(chosen))

    def _totals(self, impacts: Impacts, terms: Terms, weighting: Weighting) -> DoubleArray:
        """The scores of all entries; those of the last query are kept, since a search that found entries often scores others."""
        last = self._last
        if last is None or last[0] is not impacts or last[1] is not terms or last[2] != weighting:
            last = self._last = (impacts, terms, weighting, _total(impacts, terms, weighting))
        return last[3]

    def frequencies(self, field: str, terms: Collection[str]) -> dict[str, int]:
        """The number of entries that have each of the terms in a field."""
        return {term: sum(map(len, rows)) for term, rows in self._holding(self._state, field, terms).items()}

    def holding(self, field: str, terms: Collection[str]) -> dict[str, list[str]]:
        """The ids of the entries that have each of the terms in a field."""
        state = self._state
        return {
            term: [
                name
                for (segment, _), own in zip(state.parts, rows, strict=True)
                for name in segment.ids_of(own)
            ]
            for term, rows in self._holding(state, field, terms).items()
        }

    def having(self, field: str, terms: Collection[str], ids: Collection[str]) -> dict[str, set[str]]:
        """The terms of a field that each of these entries has, of some terms; unknown ids are left out."""
        state = self._state
        wanted = state.mask(ids)
        found: dict[str, set[str]] = {}
        first = 0
        rows = self._holding(state, field, terms)
        for number, (segment, _) in enumerate(state.parts):
            own = np.flatnonzero(wanted[first : first + len(segment)])
            names = dict(zip(own.tolist(), segment.ids_of(own), strict=True))
            found |= {name: set[str]() for name in names.values()}
            for term, places in rows.items():
                for row in np.intersect1d(places[number], own, assume_unique=True).tolist():
                    found[names[row]].add(term)
            first += len(segment)
        return found

    def _holding(self, state: Segments, field: str, terms: Collection[str]) -> dict[str, list[IndexArray]]:
        """The rows of every segment that have each of the terms, without deleted ones."""
        named = {term: term_number(term) for term in terms}
        numbers = np.array(sorted(set(named.values())), np.int64)
        places = {int(number): place for place, number in enumerate(numbers)}
        found: dict[str, list[IndexArray]] = {term: [] for term in named}
        for segment, alive in state.parts:
            postings = segment.postings(field, numbers)
            for term, number in named.items():
                rows = np.sort(postings.rows[postings.terms == places[number]]).astype(np.intp)
                found[term].append(rows[alive[rows]])
        return found

    def update(self, upserts: Iterable[tuple[str, Terms]], deletes: Iterable[str] = ()) -> None:
        """Deletes entries, then adds others or replaces those of the same id; unknown ids to delete are ignored.

        It is atomic: after an error or a crash nothing has changed.
        """
        self.update_bags(((identifier, bag_of(terms)) for identifier, terms in upserts), deletes)

    def update_bags(self, upserts: Iterable[tuple[str, Bag]], deletes: Iterable[str] = ()) -> None:
        """Like `update`, with terms that are already numbers."""
        if self._read_only:
            raise MathAMRError(f"the lexical index {self._folder} was opened for reading only")
        with self._writing:
            change = Change(self._folder, self._state)
            try:
                for identifier in deletes:
                    change.delete(identifier)
                entries = iter(upserts)
                while batch := dict(islice(entries, self._batch)):
                    for identifier in batch:
                        check_id(identifier)
                    change.add(batch)
                if not change.is_empty:
                    self._impacts = Impacts(change.publish())
            finally:
                segment_list(self._folder).remove_unlisted()

    def refresh(self) -> None:
        """Sees what another process has written since."""
        state = Segments.read(self._folder)
        if state.generation != self._state.generation:
            self._impacts = Impacts(state)

    def verify(self) -> list[str]:
        """Messages about damage; empty if everything is intact."""
        return [
            f"{segment.path}: its content does not have its checksum"
            for segment, _ in Segments.read(self._folder).parts
            if not segment.is_intact()
        ]

    def close(self) -> None:
        """Releases the files; it may be called twice."""
        self._impacts, self._last = Impacts(Segments()), None


class LexicalIndex(Closing):
    """A folder with the terms of posts, and those of formulas: one entry for each visual class."""

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        self.posts = LexicalPart(folder / "posts", POSTS, read_only=read_only)
        self.formulas = LexicalPart(folder / "formulas", FORMULAS, read_only=read_only)

    @classmethod
    def open(cls, folder: Path, *, read_only: bool = False) -> Self:
        """Opens the lexical index of a folder; for writing it is created if it does not exist."""
        return cls(folder, read_only=read_only)

    def refresh(self) -> None:
        """Sees what another process has written since."""
        self.posts.refresh()
        self.formulas.refresh()

    def verify(self) -> list[str]:
        """Messages about damage; empty if everything is intact."""
        return self.posts.verify() + self.formulas.verify()

    def close(self) -> None:
        """Releases the files; it may be called twice."""
        self.posts.close()
        self.formulas.close()


def _total(impacts: Impacts, terms: Terms, weighting: Weighting) -> DoubleArray:
    """The score of every entry over all fields, as a share of the highest possible score."""
    found: list[DoubleArray] = []
    highest = 0.0
    for field, weight in weighting.fields.items():
        if weight and terms.get(field):
            scores, bound = _of_field(impacts, field, terms[field], weighting)
            found.append(weight * scores)
            highest += weight * bound
    total: DoubleArray = np.zeros(len(impacts.state))
    for scores in found if highest > 0 else ():
        total += scores / highest
    return total


def _of_field(
    impacts: Impacts, field: str, terms: Iterable[str], weighting: Weighting
) -> tuple[DoubleArray, float]:
    """The contribution of a field to every entry, and its limit for an entry with infinitely many occurrences of every term."""
    counts = Counter(map(term_number, terms))
    found = impacts.of(field, list(counts), weighting.k1, weighting.b)
    holding = np.array([each.living for each in found], np.float64)
    rarity = np.log1p((impacts.state.count - holding + 0.5) / (holding + 0.5)) ** weighting.rarity
    weights = rarity * np.log1p(np.array(list(counts.values()), np.float64))
    rows = np.concatenate([each.rows for each in found])
    added = np.concatenate([each.shares for each in found])
    added *= np.repeat(weights, [len(each.rows) for each in found])
    scores: DoubleArray = np.bincount(rows, added, minlength=len(impacts.state))  # type: ignore[assignment]
    return scores, float(weights.sum())
