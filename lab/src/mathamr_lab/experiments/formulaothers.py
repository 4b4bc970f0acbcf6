"""Rankings of formulas without a network, over a complete collection: learned systems are compared and fused with them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
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
from mathamr.index.lexical.terms import Terms, path_tokens
from mathamr_lab.experiments.formulacollection import FormulaCollection
from mathamr_lab.recipes.formulaorders import SharedParts

ALIGNED_POOL = 200
"""The number of candidates, the first by shared parts, whose trees are aligned; the others follow in that order."""


def other_scores(name: str, collection: FormulaCollection) -> FloatArray | None:
    """Score every candidate for every topic; `None` if the collection lacks the LaTeX that this ranking reads."""
    if name not in OTHERS:
        raise MathAMRError(
            f"unknown ranking of formulas without a network {name!r}; known: {', '.join(OTHERS)}"
        )
    return OTHERS[name](collection)


class _ListedTokens(Bm25):
    """BM25 over the tokens that a candidate's text lists, one per line."""

    def tokens(self, candidate: Candidate) -> list[str]:
        """Return the lines."""
        return candidate.text.split("\n")


def _of_latex(collection: FormulaCollection) -> FloatArray | None:
    if not collection.written or not all(each.latex for each in collection.written):
        return None
    return _bm25(collection, LatexBm25, lambda place: Candidate("", "", (collection.written[place].latex,)))


def _of_tuples(view: int) -> Callable[[FormulaCollection], FloatArray]:
    """Score by symbols, and pairs of symbols with the path between them, of one of the two trees."""

    def tokens(tree: Tree) -> str:
        return "\n".join([*tree.labels, *path_tokens("", tree, 2)])

    def found(collection: FormulaCollection) -> FloatArray:
        shard = collection.shard
        return _bm25(
            collection, _ListedTokens, lambda place: Candidate("", tokens(shard.both(place)[view]), ())
        )

    return found


def _bm25(collection: FormulaCollection, kind: type[Bm25], formula: Callable[[int], Candidate]) -> FloatArray:
    """Score by BM25; candidates come first, then the queries."""
    cut = len(collection.candidates)
    queries = [formula(cut + topic) for topic in range(len(collection.topics))]
    scores = np.zeros((len(queries), cut), np.float32)
    for row, found in zip(scores, kind(map(formula, range(cut))).scores(queries), strict=True):
        row[:] = found
    return scores


def _lexical(collection: FormulaCollection) -> FloatArray | None:
    """Score by the terms of our lexical search."""
    if not collection.written:
        return None
    cut, shard = len(collection.candidates), collection.shard

    def terms(place: int) -> Terms:
        return collection.written[place].terms(shard.both(place))

    scores = np.zeros((len(collection.topics), cut), np.float32)
    names = [str(place) for place in range(cut)]
    with tempfile.TemporaryDirectory() as folder, LexicalIndex(Path(folder)) as index:
        index.formulas.update_bags((name, bag_of(terms(int(name)))) for name in names)
        for topic, row in enumerate(scores):
            for hit in index.formulas.search(terms(cut + topic), cut):
                row[int(hit.id)] = hit.score
    return scores


def _shared(collection: FormulaCollection) -> FloatArray:
    cut, count = len(collection.candidates), len(collection.shard)
    parts = SharedParts(collection.shard, np.arange(cut, count))
    scores = np.zeros((count - cut, cut), np.float32)
    for topic, row in enumerate(scores):
        row[:] = parts.scores(cut + topic)[:cut]
    return scores


def _aligned(collection: FormulaCollection) -> FloatArray:
    scores, both = _shared(collection), collection.shard.both
    for topic, (name, row) in enumerate(zip(collection.topics, scores, strict=True)):
        chosen = collection.ranked_for(name)
        if not collection.among_judged:
            chosen = np.argsort(-row, kind="stable")[:ALIGNED_POOL]
        # Below every alignment score, in the order of shared parts.
        row[:] = row / max(float(row.max()), 1e-9) - 2
        query = both(len(collection.candidates) + topic)
        row[chosen] = [similarity(query, both(other)) for other in chosen.tolist()]
    return scores


OTHERS: Mapping[str, Callable[[FormulaCollection], FloatArray | None]] = {
    "BM25, LaTeX n-grams": _of_latex,
    "BM25, layout tuples": _of_tuples(1),
    "BM25, operator tuples": _of_tuples(0),
    "lexical": _lexical,
    "shared parts": _shared,
    "alignment": _aligned,
}
"""By name: BM25 over LaTeX, over tuples of trees; our own lexical search; BM25 over parts of trees; the alignment of trees."""
