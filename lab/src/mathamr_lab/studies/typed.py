"""Typed queries: a formula alone, in part, with words or a name, in other letters and notations, over any indexes.

`MATHAMR_TYPED` names indexes, separated by spaces; `MATHAMR_COUNT` the number of queries of each (400). The queries are drawn from the
entries of an index with a seed (`typedqueries`), a quarter of them held back from every choice. The table has MRR@10 by the default
ranking, by words alone, and by BM25 over words and LaTeX n-grams, with intervals by the bootstrap over queries.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from statistics import fmean

from mathamr.evaluation import baselines
from mathamr.evaluation.knownitems import reciprocal_rank
from mathamr.evaluation.significance import bootstrap_interval
from mathamr.evaluation.table import aligned
from mathamr.evaluation.topics import Topic
from mathamr.posts.post import Post
from mathamr.search.query import Query
from mathamr.search.searcher import Index
from mathamr_lab.data import environment
from mathamr_lab.studies.typedqueries import FORMS, TypedQuery, draw

DEPTH = 10
WITH_WORDS = ("one word", "two words", "part, one word", "name")
GROUPS: dict[str, Callable[[TypedQuery], bool]] = {
    "all": lambda query: True,
    "held back": lambda query: query.held,
    "own letters": lambda query: not query.renamed,
    "other letters": lambda query: query.renamed,
    "with words": lambda query: query.form in WITH_WORDS,
    **{form: (lambda query, form=form: query.form == form) for form in FORMS},  # type: ignore[misc]
}


def by_strategy(index: Index, queries: Sequence[TypedQuery], strategy: str | None) -> list[float]:
    """Return the reciprocal rank of every query under a strategy of the index."""
    return [
        reciprocal_rank(
            {query.entry}, [each.id for each in index.rank(query.text, "answers", strategy, DEPTH)[0]]
        )
        for query in queries
    ]


def by_baseline(index: Index, queries: Sequence[TypedQuery]) -> list[float]:
    """Return the reciprocal rank of every query by BM25 over words and LaTeX n-grams."""
    posts = [
        Post(post.id, "answer", f"{post.title}\n{post.body}", markup=post.markup, formulas=post.formulas)
        for post in index.archive.catalogue.every_post()
    ]
    topics = [Topic(str(number), Query.of_text(query.text).post) for number, query in enumerate(queries)]
    run = baselines.run("bm25", posts, topics, "answers")
    return [
        reciprocal_rank({query.entry}, [hit.id for hit in run.rankings.get(str(number), ())])
        for number, query in enumerate(queries)
    ]


def run() -> None:
    count = int(os.environ.get("MATHAMR_COUNT", "400"))
    for folder in environment("MATHAMR_TYPED").split():
        with Index.open(folder) as index:
            queries = draw(index, count)
            found = {
                "default": by_strategy(index, queries, None),
                "lexical": by_strategy(index, queries, "lexical"),
                "BM25": by_baseline(index, queries),
            }
            print(f"\n{folder}: {len(index)} entries, {len(queries)} queries")
            print(aligned(_table(queries, found)), flush=True)


def _table(queries: Sequence[TypedQuery], found: dict[str, list[float]]) -> list[list[str]]:
    rows = [["MRR@10", "queries", *found]]
    for name, is_in in GROUPS.items():
        chosen = [place for place, query in enumerate(queries) if is_in(query)]
        if chosen:
            rows.append(
                [
                    name,
                    str(len(chosen)),
                    *(_cell([values[each] for each in chosen]) for values in found.values()),
                ]
            )
    return rows


def _cell(values: Sequence[float]) -> str:
    low, high = bootstrap_interval(values) or (0.0, 0.0)
    return f"{fmean(values):.3f} ({low:.3f} to {high:.3f})"
