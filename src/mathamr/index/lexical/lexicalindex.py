"""`LexicalIndex`: BM25 over the terms of posts and of formulas, in a folder that is updated without a rebuild.

Only counts are stored. The statistics of BM25 (how many entries have a term, their average length) are computed over the
existing entries for each query: an index that was updated a thousand times scores exactly like one that was built at once.
Libraries that store final scores, such as bm25s, must be rebuilt after changes.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np

from mathamr.core.arrays import BoolArray, IntArray
from mathamr.core.closing import Closing
from mathamr.core.errors import MathAMRError
from mathamr.core.storage.mappedarrays import intact
from mathamr.formulas.trees import Trees
from mathamr.index.entryids import check_entry_id
from mathamr.index.lexical.bags import Bag, bag_of, term_number, unpack_trees
from mathamr.index.lexical.scoring import Scorer, Weighting
from mathamr.index.lexical.segments import Change, Segments, create, segment_list
from mathamr.index.lexical.terms import Terms
from mathamr.index.scored import EntryNames, Scored, ScoredRows, check_k, rounded

BATCH = 5_000
"""Number of entries of an update that are held in memory; a larger update writes several segments."""


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
        self._scorer = Scorer(Segments.read(folder))
        self._found = _nothing(self._scorer.state)

    @property
    def _state(self) -> Segments:
        return self._scorer.state

    def count(self) -> int:
        """Return the number of entries."""
        return self._state.count

    def ids(self) -> Iterator[str]:
        """Return the ids of all entries."""
        state = self._state
        return iter(state.names.some(np.flatnonzero(state.mask(None))))

    @property
    def names(self) -> EntryNames:
        """The ids of the entries by row, deleted ones among them."""
        return self._state.names

    def mask(self, ids: Collection[str]) -> BoolArray:
        """Return a mask of these entries, for `search`; it holds as long as nothing is written."""
        return self._state.mask(ids)

    def search(
        self,
        terms: Terms,
        k: int,
        where: BoolArray | None = None,
        weighting: Weighting | None = None,
    ) -> Sequence[Scored]:
        """Return the k best entries that share a term with the query, best first, ties by id.

        A score is divided by the highest possible score of the query's terms, so that scores of different queries are
        comparable. `where` restricts the search to the entries of a `mask`.
        """
        check_k(k)
        scorer = self._scorer
        among = scorer.alive if where is None else scorer.alive & where
        rows, scores = scorer.find_best(terms, weighting or self.weighting, k, among)
        self._found = found = ScoredRows(scorer.state.names, rows, rounded(scores))
        return found.best(k)

    def score(
        self, terms: Terms, ids: Collection[str], weighting: Weighting | None = None
    ) -> Sequence[Scored]:
        """Return the scores of these entries, best first, 0 for those that share no term; unknown ids are left out."""
        scorer = self._scorer
        rows = self._rows(scorer.state, ids)
        scores = scorer.score(terms, weighting or self.weighting, rows)
        return ScoredRows(scorer.state.names, rows, rounded(scores)).best()

    def trees(self, ids: Collection[str]) -> dict[str, Trees]:
        """Return the stored trees of these entries; those without any are left out."""
        state = self._state
        rows = self._rows(state, ids)
        found = zip(state.names.some(rows), map(unpack_trees, state.packed_trees(rows)), strict=True)
        return {name: trees for name, trees in found if trees is not None}

    def _rows(self, state: Segments, ids: Collection[str]) -> IntArray:
        """Return the rows of entries; those that the last search found need not be looked up among all ids."""
        last = self._found
        if not state.names.is_read and last.names is state.names:
            known = dict(zip(last.ids, last.rows.tolist(), strict=True))
            if all(map(known.__contains__, ids)):
                return np.array(sorted(map(known.__getitem__, set(ids))), np.int64)
        return state.rows(ids)

    def frequencies(self, field: str, terms: Collection[str]) -> dict[str, int]:
        """Return the number of entries that have each of the terms in a field."""
        return {term: len(rows) for term, rows in self.rows_having(field, terms).items()}

    def holding(self, field: str, terms: Collection[str]) -> dict[str, list[str]]:
        """Return the ids of the entries that have each of the terms in a field."""
        state = self._state
        return {term: state.names.some(rows) for term, rows in _rows_having(state, field, terms).items()}

    def having(self, field: str, terms: Collection[str], ids: Collection[str]) -> dict[str, set[str]]:
        """Return the terms of a field that each of these entries has, of some terms; unknown ids are left out."""
        state = self._state
        wanted = self._rows(state, ids)
        names = state.names.some(wanted)
        found: dict[str, set[str]] = {name: set() for name in names}
        for term, rows in _rows_having(state, field, terms).items():
            if len(rows):
                near = np.minimum(np.searchsorted(rows, wanted), len(rows) - 1)
                for place in np.flatnonzero(rows[near] == wanted).tolist():
                    found[names[place]].add(term)
        return found

    def rows_having(self, field: str, terms: Collection[str]) -> dict[str, IntArray]:
        """Return the rows of the entries that have each of the terms in a field, ascending."""
        return _rows_having(self._state, field, terms)

    def update(self, upserts: Iterable[tuple[str, Terms]], deletes: Iterable[str] = ()) -> None:
        """Delete entries, then add others or replace those of the same id; unknown ids to delete are ignored.

        It is atomic: after an error or a crash nothing has changed.
        """
        self.update_bags(((identifier, bag_of(terms)) for identifier, terms in upserts), deletes)

    def update_bags(
        self,
        upserts: Iterable[tuple[str, Bag]],
        deletes: Iterable[str] = (),
        new: Collection[str] = frozenset(),
    ) -> None:
        """Update like `update`, with terms that are already numbers; entries in `new` are known not to exist yet."""
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
                        check_entry_id(identifier)
                    change.add(batch, new)
                if not change.is_empty:
                    self._scorer = Scorer(change.publish())
            finally:
                segment_list(self._folder).remove_unlisted()

    def optimize(self) -> None:
        """Merge all segments into one."""
        with self._writing:
            change = Change(self._folder, self._state)
            try:
                if change.has_several:
                    self._scorer = Scorer(change.publish(everything=True))
            finally:
                segment_list(self._folder).remove_unlisted()

    def verify(self) -> list[str]:
        """Return messages about damage; empty if everything is intact."""
        return [
            f"{segment.path}: its content does not have its checksum"
            for segment, _ in Segments.read(self._folder).parts
            if not intact(segment.path)
        ]

    def close(self) -> None:
        """Release the files; it may be called twice."""
        self._scorer = Scorer(Segments())
        self._found = _nothing(self._scorer.state)


class LexicalIndex(Closing):
    """A folder with the terms of posts, and those of formulas: one entry for each visual class; created for writing if it does not exist."""

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        self.posts = LexicalPart(folder / "posts", POSTS, read_only=read_only)
        self.formulas = LexicalPart(folder / "formulas", FORMULAS, read_only=read_only)

    def optimize(self) -> None:
        """Merge the segments of each kind into one."""
        self.posts.optimize()
        self.formulas.optimize()

    def verify(self) -> list[str]:
        """Return messages about damage; empty if everything is intact."""
        return self.posts.verify() + self.formulas.verify()

    def close(self) -> None:
        """Release the files; it may be called twice."""
        self.posts.close()
        self.formulas.close()


def _rows_having(state: Segments, field: str, terms: Collection[str]) -> dict[str, IntArray]:
    """Return the living rows that have each of the terms, ascending over all segments."""
    named = list(dict.fromkeys(terms))
    numbers = np.array([*map(term_number, named)], np.int64)
    found: dict[str, list[IntArray]] = {term: [np.empty(0, np.int64)] for term in named}
    start = 0
    for (segment, alive), is_complete in zip(state.parts, state.is_complete, strict=True):
        held, _ = segment.postings(field)
        for term, begin, end in zip(*(each.tolist() for each in segment.find(field, numbers)), strict=True):
            rows = held[begin:end]
            found[named[term]].append((rows if is_complete else rows[alive[rows]]).astype(np.int64) + start)
        start += len(segment)
    return {term: np.concatenate(parts) for term, parts in found.items()}


def _nothing(state: Segments) -> ScoredRows:
    return ScoredRows(state.names, np.empty(0, np.int64), np.empty(0))
