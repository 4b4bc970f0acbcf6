"""Rankings of formulas without a network, over a complete collection: learned systems are compared and fused with them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.core.errors import MathAMRError
from mathamr.evaluation.baselines.bm25 import Bm25, LatexBm25
from mathamr.evaluation.baselines.candidate import Candidate
from mathamr.formulas.alignment import similarity
from mathamr.formulas.tree import Tree
from mathamr.index.lexical.bags import bag_of
from mathamr.index.lexical.lexicalindex import LexicalIndex
from mathamr.index.lexical.terms import Terms
from mathamr_lab.experiments.formulacollection import FormulaCollection
from mathamr_lab.experiments.pathtuples import tuples
from mathamr_lab.recipes.formulaorders import SharedParts

ALIGNED_POOL = 200
"""The number of candidates, the first by shared parts, whose trees are aligned; the others follow in that order."""


def other_scores(name: str, collection: FormulaCollection) -> FloatArray | None:
    """Scores every candidate for every topic; `None` if the collection lacks the LaTeX that this ranking reads."""
    if name not in OTHERS:
        raise MathAMRError(
            f"unknown ranking of formulas without a network {name!r}; known: {', '.join(OTHERS)}"
        )
    return OTHERS[name](collection)


class _ListedTokens(Bm25):
    """BM25 over the tokens that a candidate's text lists, one per line."""

    def tokens(self, candidate: Candidate) -> list[str]:
        """The lines."""
        return candidate.text.split("\n")


def _of_latex(collection: FormulaCollection) -> FloatArray | None:
    if not collection.written:
        return None
    return _bm25(collection, LatexBm25, [Candidate("", "", (each.latex,), "") for each in collection.written])


def _of_tuples(view: int) -> Callable[[FormulaCollection], FloatArray]:
    """Scores by symbols, and pairs of symbols with the path between them, of one of the two trees."""

    def tokens(tree: Tree) -> str:
        pairs = (f"{each.ancestor} {each.path} {each.descendant}" for each in tuples(tree, 2))
        return "\n".join([*tree.labels, *pairs])

    def found(collection: FormulaCollection) -> FloatArray:
        shard = collection.shard
        texts = (tokens(shard.both(number)[view]) for number in range(len(shard)))
        return _bm25(collection, _ListedTokens, [Candidate("", text, (), "") for text in texts])

    return found


def _bm25(collection: FormulaCollection, kind: type[Bm25], formulas: Sequence[Candidate]) -> FloatArray:
    """Scores by BM25; candidates come first, then the queries."""
    cut = len(collection.candidates)
    named = [Candidate(str(place), each.text, each.formulas, "") for place, each in enumerate(formulas[:cut])]
    scores = np.zeros((len(collection.topics), cut), np.float32)
    for row, hits in zip(scores, kind(named).rank(formulas[cut:], cut), strict=True):
        for hit in hits:
            row[int(hit.id)] = hit.score
    return scores


def _lexical(collection: FormulaCollection) -> FloatArray | None:
    """Scores by the terms of our lexical search."""
    if not collection.written:
        return None
    cut, shard = len(collection.candidates), collection.shard

    def terms(place: int) -> Terms:
        return collection.written[place].terms(shard.both(place))

    scores = np.zeros((len(collection.topics), cut), np.float32)
    names = [str(place) for place in range(cut)]
    with tempfile.TemporaryDirectory() as folder, LexicalIndex.open(Path(folder)) as index:
        index.formulas.update_bags((name, bag_of(terms(int(name)))) for name in names)
        for topic, row in enumerate(scores):
            for hit in index.formulas.search(terms(cut + topic), cut):
                row[int(hit.id)] = hit.score
    return scores


def _shared(collection: FormulaCollection) -> FloatArray:
    parts, first = SharedParts(collection.shard), len(collection.candidates)
    shared = np.stack([parts.scores(first + topic)[:first] for topic in range(len(collection.topics))])
    return shared.astype(np.float32)


def _aligned(collection: FormulaCollection) -> FloatArray:
    shared, both = _shared(collection), collection.shard.both
    place = {name: number for number, name in enumerate(collection.candidates)}
    best = shared.max(axis=1, keepdims=True)
    # Below every alignment score, in the order of shared parts.
    found: FloatArray = (shared / np.maximum(best, 1e-9) - 2).astype(np.float32)
    for topic, name in enumerate(collection.topics):
        if collection.among_judged:
            chosen = np.array([place[item] for item in collection.grades[name]])
        else:
            chosen = np.argsort(-shared[topic], kind="stable")[:ALIGNED_POOL]
        query = both(len(collection.candidates) + topic)
        found[topic, chosen] = [similarity(query, both(other)) for other in chosen.tolist()]
    return found


OTHERS: Mapping[str, Callable[[FormulaCollection], FloatArray | None]] = {
    "BM25, LaTeX n-grams": _of_latex,
    "BM25, layout tuples": _of_tuples(1),
    "BM25, operator tuples": _of_tuples(0),
    "lexical": _lexical,
    "shared parts": _shared,
    "alignment": _aligned,
}
"""By name: BM25 over LaTeX, over tuples of trees; our own lexical search; BM25 over parts of trees; the alignment of trees."""
