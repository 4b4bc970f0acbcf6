"""Rankings of formulas without a network or an index, which learned systems are compared and fused with: BM25 over LaTeX and trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

import numpy as np

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.baselines import Candidate
from mathamr.evaluation.baselines import run as run_baseline
from mathamr.evaluation.baselines.bm25 import Bm25
from mathamr.evaluation.runs import Run
from mathamr.evaluation.topics import Topic
from mathamr.formulas.tree import Opt, Slt, Tree
from mathamr.formulas.trees import trees_of
from mathamr.graphs.formulashard import FormulaShard
from mathamr.index.lexical.terms import path_tokens
from mathamr.posts.identifiers import SeenIds
from mathamr.posts.post import Formula, Post
from mathamr_lab.recipes.formulaorders import SharedParts

NamedTrees = tuple[str, tuple[Slt, Opt]]


def other_run(name: str, posts: Iterable[Post], topics: Sequence[Topic], depth: int) -> Run:
    """Rank the formulas of posts, each visual id once, for every topic; what shares nothing with a topic's formula is not found."""
    if name not in OTHERS:
        raise MathAMRError(
            f"unknown ranking of formulas without a network {name!r}; known: {', '.join(OTHERS)}"
        )
    return OTHERS[name](name, posts, topics, depth)


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


def _of_latex(name: str, posts: Iterable[Post], topics: Sequence[Topic], depth: int) -> Run:
    found = run_baseline("latex-ngrams", posts, topics, "formulas", depth)
    return Run(name, found.rankings)


def _of_tuples(view: int) -> Callable[[str, Iterable[Post], Sequence[Topic], int], Run]:
    """Rank by symbols, and pairs of symbols with the path between them, of one of the two trees."""

    def candidate(named: NamedTrees) -> Candidate:
        tree: Tree = named[1][view]
        return Candidate(named[0], "\n".join([*tree.labels, *path_tokens("", tree, 2)]), ())

    def found(name: str, posts: Iterable[Post], topics: Sequence[Topic], depth: int) -> Run:
        asked = [candidate(query) for query in _queries(topics)]
        ranked = _ListedTokens(map(candidate, _candidates(posts))).rank(asked, depth)
        return Run.of(name, {query.id: hits for query, hits in zip(asked, ranked, strict=True)})

    return found


def _shared(name: str, posts: Iterable[Post], topics: Sequence[Topic], depth: int) -> Run:
    """Rank by BM25 over parts of trees."""
    names: list[str] = []

    def trees() -> Iterator[tuple[Slt, Opt]]:
        for each, both in chain(_candidates(posts), _queries(topics)):
            names.append(each)
            yield both

    shard = FormulaShard.of(trees())
    cut = len(shard) - len(list(_queries(topics)))
    parts = SharedParts(shard, np.arange(cut, len(shard)))
    found = {}
    for topic in range(cut, len(shard)):
        scores = parts.scores(topic)[:cut]
        best = np.argsort(-scores, kind="stable")[:depth].tolist()
        found[names[topic]] = [(names[each], float(scores[each])) for each in best if scores[each] > 0]
    return Run.of(name, found)


OTHERS: Mapping[str, Callable[[str, Iterable[Post], Sequence[Topic], int], Run]] = {
    "BM25, LaTeX n-grams": _of_latex,
    "BM25, layout tuples": _of_tuples(0),
    "BM25, operator tuples": _of_tuples(1),
    "shared parts": _shared,
}
"""By name: BM25 over LaTeX, over tuples of trees, and over parts of trees."""
