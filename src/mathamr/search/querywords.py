"""`QueryWords`: the words of a query that say what is asked for, each with the terms by which a post has it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from mathamr.formulas.typed.names import GREEK
from mathamr.index.lexical.terms import (
    STOP_WORDS,
    count_words,
    is_ideograph,
    stems,
    word_tokens,
    words,
)
from mathamr.posts.passage import PLACEHOLDER
from mathamr.search.query import Query

MOST_WORDS = 4
"""A query with more words, common ones not counted, says what it means in other words than its answer may."""


def is_letter(word: str) -> bool:
    """Return True for one letter; a digit and a character of Chinese or Japanese are words."""
    return len(word) == 1 and not word.isdigit() and not is_ideograph(word)


class TermHolders(Protocol):
    """Tells which of some terms of a field each of some entries has, as the lexical index does."""

    def having(
        self, field: str, terms: Collection[str], ids: Collection[str]
    ) -> Mapping[str, Collection[str]]:
        """Return the terms that each entry has."""
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

    def count_held(self, ids: Sequence[str], lexicon: TermHolders) -> dict[str, int]:
        """Return how many of the words each of some posts has."""
        fields = {field for terms in self.wanted for field, _ in terms}
        if fields == {"stems"} and all(len(terms) == 1 for terms in self.wanted):  # as of most queries
            stems_of = lexicon.having("stems", {term for ((_, term),) in self.wanted}, ids)
            return {each: len(stems_of.get(each, ())) for each in ids}
        held: dict[str, set[tuple[str, str]]] = {each: set() for each in ids}
        for field in fields:
            terms = {term for own in self.wanted for of, term in own if of == field}
            for each, own in lexicon.having(field, terms, ids).items():
                held[each].update((field, term) for term in own)
        if self.spelled:
            letters = frozenset().union(*self.spelled)
            for each, latex in lexicon.having("latex", letters, ids).items():
                if any(terms.issubset(latex) for terms in self.spelled):
                    held[each] |= self.wanted[0]
        return {each: sum(not own.isdisjoint(word) for word in self.wanted) for each, own in held.items()}
