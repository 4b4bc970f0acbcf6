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
    columns, known = ScoredColumns.of(hits), wanted.counts(lexicon)
    held = known[columns.rows_in(lexicon.names)]
    if known.max() < len(wanted) or (among is None and held[:LOOKED_AT].all()):
        return hits
    chosen = np.ones(len(columns), np.bool_)
    if among is not None:
        chosen = np.fromiter(map(among.__contains__, columns.ids), np.bool_, len(columns))
    (without,) = np.nonzero(chosen & (held == 0))
    ids = columns.take(without).ids
    above = parents(ids)
    inherited = known[lexicon.names.find(above.values())].tolist()
    counts_above = dict(zip(above, inherited, strict=True))
    counts = np.where(chosen, held, -1)
    counts[without] = [counts_above.get(each, 0) for each in ids]
    (whole,) = np.nonzero(counts == len(wanted))
    if not len(whole) or not (counts[: whole[-1]] == 0).any():
        return hits
    places = np.arange(len(counts))
    is_behind = (counts == 0) | (places > whole[-1])
    order = np.concatenate([places[~is_behind], places[is_behind]])
    scores, border = columns.scores.copy(), int((~is_behind).sum())
    np.minimum(scores[border:], np.nextafter(scores[border - 1], -np.inf), out=scores[border:])
    return columns.take(order).with_scores(scores)
