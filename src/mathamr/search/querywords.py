"""`QueryWords`: the words of a query that say what is asked for, each with the terms by which a post has it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mathamr.core.arrays import BoolArray, IntArray
from mathamr.formulas.typed.names import GREEK
from mathamr.index.lexical.terms import (
    STOP_WORDS,
    count_words,
    is_ideograph,
    stems,
    word_tokens,
    words,
)
from mathamr.index.scored import EntryNames
from mathamr.posts.passage import PLACEHOLDER
from mathamr.posts.postkind import ASKING, kind_named
from mathamr.search.query import Query

EQUATIONS = frozenset({"equation", "inequality", "identity", "formula"})
"""Words that name statements, beside the kinds of posts."""
MOST_WORDS = 4
"""A query with more words, common ones not counted, says what it means in other words than its answer may."""


def asks_for_statement(query: Query) -> bool:
    """Return True if a query is a statement in the notation of a library, or its words name one.

    >>> [asks_for_statement(Query.of_text(text)) for text in ("Sylow theorems", "normal subgroup", "Pell's equation")]
    [True, False, True]
    """
    if query.post.markup == "declaration":
        return True
    said = (word.removesuffix("s") for word in words(PLACEHOLDER.sub(" ", query.passage.text)))
    return any(word in EQUATIONS or kind_named(word) in ASKING for word in said)


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


@dataclass(frozen=True, slots=True)
class QueryWords:
    """For each word, the terms by which a post has it: its stem and, of a word alone that names a symbol, that symbol."""

    wanted: tuple[frozenset[tuple[str, str]], ...]
    spelled: tuple[frozenset[str], ...] = ()
    """Of a word alone that names an operator: terms of LaTeX that together spell it out."""

    @classmethod
    def of(cls, query: Query, corrected: Mapping[str, str]) -> QueryWords:
        """Return the words of a query, misspelt ones corrected; common words and letters, which may stand in formulas, are left out."""
        found = {
            corrected.get(word, word)
            for word in words(PLACEHOLDER.sub(" ", query.passage.text))
            if word not in STOP_WORDS and word not in GREEK and not is_letter(word)
        }
        wanted = [{("stems", stem)} for stem in dict.fromkeys(stems(sorted(found)))]
        spelled: list[frozenset[str]] = []
        if query.symbol_terms:
            spelled = [terms for terms in query.symbol_terms if len(terms) > 1]
            single = frozenset().union(*(terms for terms in query.symbol_terms if len(terms) == 1))
            own = {("stems", stem) for stem in word_tokens(query.text)}
            wanted = [{*own, *(("latex", term) for term in single)}]
        return cls(tuple(map(frozenset, wanted)), tuple(spelled))

    def __len__(self) -> int:
        return len(self.wanted)

    @property
    def is_short(self) -> bool:
        """True if there are words, and no more than an answer would repeat."""
        return 0 < count_words([min(terms)[1] for terms in self.wanted]) <= MOST_WORDS

    def counts(self, lexicon: TermHolders) -> IntArray:
        """Return how many of the words each entry of a lexical index has, by row; the last number, 0, is of entries that it lacks."""
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
