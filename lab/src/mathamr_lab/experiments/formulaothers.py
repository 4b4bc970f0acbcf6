"""Rankings of formulas without a network or an index, which learned systems are compared and fused with: BM25 over LaTeX and trees, and
the alignment of trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

import numpy as np

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.baselines import Candidate
from mathamr.evaluation.baselines import run as run_baseline
from mathamr.evaluation.baselines.bm25 import Bm25
from mathamr.evaluation.fusedruns import rerank_run
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.runs import DEPTH, Run, RunHit
from mathamr.evaluation.topics import Topic
from mathamr.formulas.alignment import similarity
from mathamr.formulas.tree import Opt, Slt, Tree
from mathamr.formulas.trees import trees_of
from mathamr.graphs.formulashard import FormulaShard
from mathamr.index.lexical.terms import path_tokens
from mathamr.index.scored import Scored
from mathamr.posts.identifiers import SeenIds
from mathamr.posts.post import Formula, Post
from mathamr_lab.experiments.plan import judged_alone
from mathamr_lab.recipes.formulaorders import SharedParts

ALIGNED_POOL = 200
"""The number of candidates, the first by shared parts, whose trees are aligned; the others follow in that order."""
MOST = 1_000_000
"""More results than a topic can have among what was judged."""
NamedTrees = tuple[str, tuple[Slt, Opt]]


def other_run(name: str, posts: Iterable[Post], topics: Sequence[Topic], among: Qrels | None = None) -> Run:
    """Rank the formulas of posts, each visual id once, for every topic; with `among` those that are judged for it alone.

    What shares nothing with a topic's formula is not found.
    """
    if name not in OTHERS:
        raise MathAMRError(
            f"unknown ranking of formulas without a network {name!r}; known: {', '.join(OTHERS)}"
        )
    return OTHERS[name](name, posts, topics, among)


class _ListedTokens(Bm25):
    """BM25 over the tokens that a candidate's text lists, one per line."""

    def tokens(self, candidate: Candidate) -> list[str]:
        """Return the lines."""
        return candidate.text.split("\n")


def _candidates(posts: Iterable[Post]) -> Iterator[NamedTrees]:
    """Yield the trees of every visual id once; formulas that cannot be read are left out."""
    seen = SeenIds()
    for post in posts:
        for formula in post.formulas:
            if formula.visual_id and formula.visual_id not in seen:
                for found in _read(formula.visual_id, formula, post):
                    seen.add(found[0])
                    yield found


def _queries(topics: Sequence[Topic]) -> Iterator[NamedTrees]:
    for topic in topics:
        if topic.formula is not None:
            yield from _read(topic.id, topic.formula, topic.post)


def _read(name: str, formula: Formula, post: Post) -> Iterator[NamedTrees]:
    (opt, slt), _ = trees_of(formula, post.macros)
    if opt is not None and slt is not None:
        yield name, (slt, opt)


def _of(name: str, found: Mapping[str, Iterable[RunHit]], among: Qrels | None) -> Run:
    run = Run.of(name, found)
    return run if among is None else judged_alone(run, among)


def _depth(among: Qrels | None) -> int:
    return DEPTH if among is None else MOST


def _of_latex(name: str, posts: Iterable[Post], topics: Sequence[Topic], among: Qrels | None) -> Run:
    found = run_baseline("latex-ngrams", posts, topics, "formulas", _depth(among))
    return _of(name, found.rankings, among)


def _of_tuples(view: int) -> Ranks:
    """Rank by symbols, and pairs of symbols with the path between them, of one of the two trees."""

    def candidate(named: NamedTrees) -> Candidate:
        tree: Tree = named[1][view]
        return Candidate(named[0], "\n".join([*tree.labels, *path_tokens("", tree, 2)]), ())

    def found(name: str, posts: Iterable[Post], topics: Sequence[Topic], among: Qrels | None) -> Run:
        asked = [candidate(query) for query in _queries(topics)]
        ranked = _ListedTokens(map(candidate, _candidates(posts))).rank(asked, _depth(among))
        return _of(name, {query.id: hits for query, hits in zip(asked, ranked, strict=True)}, among)

    return found


class _Formulas:
    """The trees of all candidates and queries."""

    def __init__(self, posts: Iterable[Post], topics: Sequence[Topic]) -> None:
        self._names: list[str] = []
        queries = list(_queries(topics))
        self._shard = FormulaShard.of(self._listed(chain(_candidates(posts), queries)))
        cut = len(self._shard) - len(queries)
        self._candidates = {name: place for place, name in enumerate(self._names[:cut])}
        self._queries = {name: cut + place for place, (name, _) in enumerate(queries)}

    def _listed(self, formulas: Iterable[NamedTrees]) -> Iterator[tuple[Slt, Opt]]:
        for name, trees in formulas:
            self._names.append(name)
            yield trees

    def by_parts(self, name: str, among: Qrels | None) -> Run:
        """Rank by BM25 over parts of trees."""
        cut = len(self._candidates)
        parts = SharedParts(self._shard, np.arange(cut, len(self._shard)))
        found = {}
        for topic, query in self._queries.items():
            scores = parts.scores(query)[:cut]
            best = np.argsort(-scores, kind="stable")[: _depth(among)].tolist()
            found[topic] = [
                RunHit(self._names[each], float(scores[each])) for each in best if scores[each] > 0
            ]
        return _of(name, found, among)

    def alignments(self, topic: str, ids: Sequence[str]) -> Iterator[Scored]:
        """Yield how similar the trees of some candidates are to those of a query."""
        query = self._shard.both(self._queries[topic])
        for each in ids:
            yield Scored(each, similarity(query, self._shard.both(self._candidates[each])))


def _shared(name: str, posts: Iterable[Post], topics: Sequence[Topic], among: Qrels | None) -> Run:
    return _Formulas(posts, topics).by_parts(name, among)


def _aligned(name: str, posts: Iterable[Post], topics: Sequence[Topic], among: Qrels | None) -> Run:
    formulas = _Formulas(posts, topics)
    pool = ALIGNED_POOL if among is None else MOST
    return rerank_run(formulas.by_parts(name, among), formulas.alignments, pool=pool, name=name)


Ranks = Callable[[str, Iterable[Post], Sequence[Topic], Qrels | None], Run]
OTHERS: Mapping[str, Ranks] = {
    "BM25, LaTeX n-grams": _of_latex,
    "BM25, layout tuples": _of_tuples(0),
    "BM25, operator tuples": _of_tuples(1),
    "shared parts": _shared,
    "alignment": _aligned,
}
"""By name: BM25 over LaTeX, over tuples of trees, and over parts of trees; the alignment of trees."""
