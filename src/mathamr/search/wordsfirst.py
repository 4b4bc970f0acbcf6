"""`WordsFirst`: of a short query, a post that has every word never ranks below one that has none of them.

A fusion cannot promise that by weights: words are one of several parts, and a word that few posts have is normalised over a short
list of nearly equal scores, so that it counts the less the rarer it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mathamr.formulas.typed.names import GREEK
from mathamr.index.lexical.terms import STOP_WORDS, stems, words
from mathamr.index.scored import Scored, ScoredColumns
from mathamr.posts.passage import PLACEHOLDER
from mathamr.search.query import Query

MOST_WORDS = 4
"""A query with more words, common ones not counted, says what it means in other words than its answer may."""
LOOKED_AT = 100
"""As long as none of so many first results lacks all words, the others need not be looked at."""

Having = Callable[[Collection[str], Sequence[str]], Mapping[str, Collection[str]]]
"""Tells which of some stems each of some posts has."""


@dataclass(frozen=True, slots=True)
class WordsFirst:
    """The stems of the words of a short query."""

    stems: frozenset[str]

    @classmethod
    def of(cls, query: Query, corrected: Mapping[str, str]) -> WordsFirst | None:
        """Return the words of a query, misspelt ones corrected; `None` if it has none, or too many."""
        if query.kind in ("formula", "question") or query.post.markup == "declaration":
            return None
        found = {
            corrected.get(word, word)
            for word in words(PLACEHOLDER.sub(" ", query.passage.text))
            if word not in STOP_WORDS and not _is_letter(word)
        }
        return cls(frozenset(stems(sorted(found)))) if 0 < len(found) <= MOST_WORDS else None

    def order(self, hits: Sequence[Scored], having: Having) -> Sequence[Scored]:
        """Return hits with those that have no word behind the last one that has all; the scores stay in their places."""
        columns = ScoredColumns.of(hits)
        first = having(self.stems, columns[:LOOKED_AT].ids)
        if all(first.values()):
            return hits
        held = having(self.stems, columns.ids)
        counts = np.array([len(held.get(each, ())) for each in columns.ids], np.int64)
        (whole,) = np.nonzero(counts == len(self.stems))
        if not len(whole):
            return hits
        places = np.arange(len(counts))
        is_behind = (counts == 0) | (places > whole[-1])
        if not is_behind[: whole[-1]].any():
            return hits
        order = np.concatenate([places[~is_behind], places[is_behind]])
        scores, border = columns.scores.copy(), int((~is_behind).sum())
        np.minimum(scores[border:], np.nextafter(scores[border - 1], -np.inf), out=scores[border:])
        return columns.take(order).with_scores(scores)


def _is_letter(word: str) -> bool:
    """Return True for a letter and for the name of a Greek one, which may stand in a formula."""
    return len(word) == 1 or word in GREEK
