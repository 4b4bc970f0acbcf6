"""`PostFilters`: the posts of one revision that pass a filter, and the formulas in them, for every part of a ranking.

What passes a filter is found once, from columns of payloads, and kept: words, names, vectors and formulas then search among
it, instead of searching everything and asking of each result whether it passes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TypeVar

import numpy as np

from mathamr.core.arrays import BoolArray, IntArray
from mathamr.core.batches import batches
from mathamr.core.cache import Cache
from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.index.engines.engine import Engine
from mathamr.index.engines.entry import Filter
from mathamr.index.engines.payloadcolumns import PayloadColumns
from mathamr.index.lexical.lexicalindex import LexicalIndex
from mathamr.index.payloads import post_payloads

KEPT = 16
"""Filters whose results are kept."""
MOST_KEPT = 1 << 20
"""Posts in all results that are kept together."""
_READ = 1 << 14
"""Formulas that are read at a time."""
T = TypeVar("T")


class PostFilters:
    """Finds what passes a filter in the parts of one revision; safe from several threads."""

    def __init__(self, catalogue: Catalogue, engine: Engine, lexical: LexicalIndex) -> None:
        self._catalogue, self._engine, self._lexical = catalogue, engine, lexical
        self._making = threading.RLock()
        self._posts = Cache[Filter, frozenset[str]](KEPT, weight=MOST_KEPT, weigh=lambda _, found: len(found))
        self._post_rows = Cache[Filter, BoolArray](KEPT)
        self._formulas = Cache[Filter, FormulaPlaces](
            KEPT, weight=MOST_KEPT, weigh=lambda _, found: len(found)
        )

    def posts(self, where: Filter | None) -> frozenset[str]:
        """Return the ids of the posts that pass a filter; all posts pass an empty one."""
        chosen = where or Filter()
        return self._once(self._posts, chosen, lambda: self._passing(chosen))

    def post_rows(self, where: Filter) -> BoolArray:
        """Return a mask of the posts that pass, by their rows in the lexical index."""
        return self._once(self._post_rows, where, lambda: self._lexical.posts.mask(self.posts(where)))

    def formulas(self, where: Filter) -> FormulaPlaces:
        """Return the places of the formulas in posts that pass."""
        return self._once(
            self._formulas,
            where,
            lambda: self._places.in_posts(self._numbers_of(self.posts(where))),
        )

    def _once(self, cache: Cache[Filter, T], where: Filter, make: Callable[[], T]) -> T:
        """Return what a cache has for a filter; threads that ask for the same wait for the first."""
        found = cache.get(where)
        if found is None:
            with self._making:
                found = cache.get_or_make(where, make)
        return found

    def _passing(self, where: Filter) -> frozenset[str]:
        ids, _ = self._known
        if not where:
            return frozenset(ids)
        others, payloads = self._others
        rows = np.flatnonzero(payloads.mask(where)).tolist()
        passing = {*self._engine.passing("posts", where), *map(others.__getitem__, rows)}
        return frozenset(each for each in ids if each in passing)  # the strings that are in memory already

    def _numbers_of(self, posts: frozenset[str]) -> IntArray:
        ids, numbers = self._known
        return numbers[np.fromiter(map(posts.__contains__, ids), np.bool_, len(ids))]

    @cached_property
    def _known(self) -> tuple[list[str], IntArray]:
        """The ids and the numbers of all posts."""
        found = list(self._catalogue.numbered_ids())
        return [each for _, each in found], np.array([number for number, _ in found], np.int64)

    @cached_property
    def _others(self) -> tuple[list[str], PayloadColumns]:
        """The posts without an entry in the engine, and their payloads."""
        stored, (ids, _) = set(self._engine.ids("posts")), self._known
        payloads = post_payloads(self._catalogue, [each for each in ids if each not in stored])
        return list(payloads), PayloadColumns.of([*payloads.values()])

    @cached_property
    def _places(self) -> FormulaPlaces:
        """The places of all formulas whose visual class has a row in the lexical index."""
        names = self._lexical.formulas.names
        parts = [np.empty((3, 0), np.int32)]
        for batch in batches(self._catalogue.every_place(), _READ):
            numbers, visuals, posts = zip(*batch, strict=True)
            parts.append(np.array([names.find(visuals), numbers, posts], np.int32))
        rows, numbers, posts = np.concatenate(parts, axis=1)
        order = np.argsort(rows, kind="stable")
        order = order[np.searchsorted(rows[order], 0) :]
        return FormulaPlaces(self._catalogue, self._lexical, rows[order], numbers[order], posts[order])


@dataclass(frozen=True, eq=False)
class FormulaPlaces:
    """Formulas by the row of their visual class in the lexical index, then in the order of the index."""

    catalogue: Catalogue
    lexical: LexicalIndex
    rows: IntArray
    numbers: IntArray
    """The number of each formula in the catalogue."""
    posts: IntArray
    """The number of each formula's post."""

    def __len__(self) -> int:
        return len(self.rows)

    def in_posts(self, numbers: IntArray) -> FormulaPlaces:
        """Return the formulas of the posts with some numbers."""
        chosen = np.zeros(1 + int(self.posts.max(initial=0)), np.bool_)
        chosen[numbers[numbers < len(chosen)]] = True
        passing = np.flatnonzero(chosen[self.posts])
        return FormulaPlaces(
            self.catalogue, self.lexical, self.rows[passing], self.numbers[passing], self.posts[passing]
        )

    @cached_property
    def mask(self) -> BoolArray:
        """The visual classes that occur, by their rows in the lexical index."""
        found = np.zeros(len(self.lexical.formulas.names), np.bool_)
        found[self.rows] = True
        return found

    @property
    def share(self) -> float:
        """The share of all visual classes that occur."""
        return int(self.mask.sum()) / max(1, len(self.mask))

    def first(self, visuals: Sequence[str]) -> dict[str, str]:
        """Return the first formula of each visual class; classes that do not occur are left out."""
        numbers = {visual: int(self.numbers[begin]) for visual, begin, _ in self._runs(visuals)}
        ids = self.catalogue.formula_ids([*numbers.values()])
        return {visual: ids[number] for visual, number in numbers.items() if number in ids}

    def every(self, visuals: Sequence[str]) -> dict[str, str]:
        """Return all formulas of some visual classes, each with its class."""
        classes = {
            number: visual
            for visual, begin, end in self._runs(visuals)
            for number in self.numbers[begin:end].tolist()
        }
        ids = self.catalogue.formula_ids([*classes])
        return {ids[number]: visual for number, visual in classes.items() if number in ids}

    def posts_with(self, visuals: Sequence[str], most: int) -> Mapping[str, Sequence[str]]:
        """Return the posts that have a formula of each visual class, at most so many of each, in the order of the index."""
        numbers = {
            visual: np.unique(self.posts[begin:end])[:most].tolist()
            for visual, begin, end in self._runs(visuals)
        }
        ids = self.catalogue.ids_of(list({*chain.from_iterable(numbers.values())}))
        return {visual: [ids[each] for each in own if each in ids] for visual, own in numbers.items()}

    def occurring(self, visuals: Sequence[str]) -> set[str]:
        """Return those of some visual classes that occur."""
        return {visual for visual, _, _ in self._runs(visuals)}

    def _runs(self, visuals: Sequence[str]) -> list[tuple[str, int, int]]:
        """Return where the formulas of those visual classes begin and end that have any."""
        rows = self.lexical.formulas.names.find(visuals)
        begins, ends = (np.searchsorted(self.rows, rows, side=side).tolist() for side in ("left", "right"))
        return [each for each in zip(visuals, begins, ends, strict=True) if each[1] < each[2]]
