"""Of a short query, a post that has every word never ranks below one that has none of them.

A fusion cannot promise that by weights: words are one of several parts, and a word that few posts have is normalised over a short
list of nearly equal scores, so that it counts the less the rarer it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from mathamr.index.scored import Scored, ScoredColumns
from mathamr.search.querywords import QueryWords, TermHolders

LOOKED_AT = 100
"""As long as none of so many first results lacks all words, the others need not be looked at."""


Parents = Callable[[Sequence[str]], Mapping[str, str]]
"""Returns the parents of those posts that have one."""


def order_by_words(
    hits: Sequence[Scored],
    wanted: QueryWords,
    lexicon: TermHolders,
    parents: Parents,
    among: Collection[str] | None = None,
) -> Sequence[Scored]:
    """Return hits with those that have no word behind the last one that has all; the scores stay in their places.

    An answer has the words of its question, under whose title it is shown. With `among`, only these results change places: those
    with the formula of a query that has words beside it.
    """
    if not wanted.is_short:
        return hits
    columns = ScoredColumns.of(hits)
    if among is None and all(wanted.count_held(columns[:LOOKED_AT].ids, lexicon).values()):
        return hits
    ids = columns.ids if among is None else [each for each in columns.ids if each in among]
    held = _count_held(ids, wanted, lexicon, parents)
    counts = np.array([held.get(each, -1) for each in columns.ids], np.int64)
    (whole,) = np.nonzero(counts == len(wanted))
    if not len(whole) or not (counts[: whole[-1]] == 0).any():
        return hits
    places = np.arange(len(counts))
    is_behind = (counts == 0) | (places > whole[-1])
    order = np.concatenate([places[~is_behind], places[is_behind]])
    scores, border = columns.scores.copy(), int((~is_behind).sum())
    np.minimum(scores[border:], np.nextafter(scores[border - 1], -np.inf), out=scores[border:])
    return columns.take(order).with_scores(scores)


def _count_held(
    ids: Sequence[str], wanted: QueryWords, lexicon: TermHolders, parents: Parents
) -> dict[str, int]:
    """Return how many of the words each of some posts has, or its parent where it has none."""
    held = wanted.count_held(ids, lexicon)
    above = parents([each for each, count in held.items() if not count])
    inherited = wanted.count_held(list(dict.fromkeys(above.values())), lexicon) if above else {}
    return held | {each: inherited.get(parent, 0) for each, parent in above.items()}
