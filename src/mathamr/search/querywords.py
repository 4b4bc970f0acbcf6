"""`QueryWords`: the words of a query that say what is asked for, each with the terms by which a post has it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol
from weakref import WeakKeyDictionary

import numpy as np

from mathamr.core.arrays import BoolArray, IntArray
from mathamr.index.lexical.terms import count_words, is_ideograph
from mathamr.index.scored import EntryNames

MOST_WORDS = 4
"""A query with more words, common ones not counted, says what it means in other words than its answer may."""


def is_letter(word: str) -> bool:
    """Return True for one letter; a digit and a character of Chinese or Japanese are words."""
    return len(word) == 1 and not word.isdigit() and not is_ideograph(word)


class TermHolders(Protocol):
    """Tells which entries have some terms of a field, as the lexical index does."""

    @property
    def names(self) -> EntryNames:
        """The ids of the entries by row."""
        ...

    def rows_having(self, field: str, terms: Collection[str]) -> Mapping[str, IntArray]:
        """Return the rows that have each of the terms."""
        ...


@dataclass(frozen=True)
class QueryWords:
    """For each word, the terms by which a post has it: its stem and, of a word alone that names a symbol, that symbol."""

    wanted: tuple[frozenset[tuple[str, str]], ...]
    spelled: tuple[frozenset[str], ...] = ()
    """Of a word alone that names an operator: terms of LaTeX that together spell it out."""

    @classmethod
    def of_stems(cls, stems: Sequence[str]) -> QueryWords:
        """Return words by their stems."""
        return cls(tuple(frozenset([("stems", stem)]) for stem in dict.fromkeys(stems)))

    @classmethod
    def of_symbol(cls, stems: Sequence[str], symbol: Sequence[frozenset[str]]) -> QueryWords:
        """Return a word alone that names a symbol, by its stem and by the terms of LaTeX that have the symbol or spell it out."""
        single = frozenset().union(*(terms for terms in symbol if len(terms) == 1))
        own = {("stems", stem) for stem in stems} | {("latex", term) for term in single}
        return cls((frozenset(own),), tuple(terms for terms in symbol if len(terms) > 1))

    _counts: WeakKeyDictionary[EntryNames, IntArray] = field(
        default_factory=WeakKeyDictionary, init=False, repr=False, compare=False
    )

    def __len__(self) -> int:
        return len(self.wanted)

    @cached_property
    def is_short(self) -> bool:
        """True if there are words, and no more than an answer would repeat."""
        return 0 < count_words([min(terms)[1] for terms in self.wanted]) <= MOST_WORDS

    def counts(self, lexicon: TermHolders) -> IntArray:
        """Return how many of the words each entry of a lexical index has, by row; the last number, 0, is of entries that it lacks."""
        if lexicon.names not in self._counts:
            self._counts[lexicon.names] = self._count(lexicon)
        return self._counts[lexicon.names]

    def _count(self, lexicon: TermHolders) -> IntArray:
        size = len(lexicon.names) + 1

        def masks(field: str, terms: Collection[str]) -> dict[str, BoolArray]:
            found = {term: np.zeros(size, np.bool_) for term in terms}
            for term, rows in lexicon.rows_having(field, terms).items():
                found[term][rows] = True
            return found

        fields = {field for terms in self.wanted for field, _ in terms}
        known = {
            field: masks(field, {term for terms in self.wanted for of, term in terms if of == field})
            for field in fields
        }
        held = [np.logical_or.reduce([known[field][term] for field, term in terms]) for terms in self.wanted]
        if self.spelled:
            letters = masks("latex", frozenset().union(*self.spelled))
            for terms in self.spelled:
                held[0] |= np.logical_and.reduce([letters[term] for term in terms])
        counts = np.zeros(size, np.int64)
        for own in held:
            counts += own
        return counts
