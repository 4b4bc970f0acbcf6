"""BM25 over words, over n-grams of LaTeX tokens, or over both; needs the extra `research` (bm25s)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from mathamr.core.errors import MissingExtraError
from mathamr.evaluation.baselines.candidate import Candidate
from mathamr.evaluation.runs import RunHit, ordered
from mathamr.index.lexical.terms import LONGEST_NGRAM, latex_tokens, ngrams, word_tokens


def _bm25s() -> Any:
    """The library bm25s without JAX, which it would load needlessly and which takes most of an accelerator's memory."""
    hidden = "jax" not in sys.modules
    if hidden:
        sys.modules["jax"] = None  # type: ignore[assignment]
    try:
        return import_module("bm25s")
    except ImportError as error:
        raise MissingExtraError(
            "bm25s, which the BM25 baselines use,", 'pip install "mathamr[baselines]"'
        ) from error
    finally:
        if hidden:
            del sys.modules["jax"]


class Bm25:
    """BM25 (Lucene's form, k1 = 1.5, b = 0.75) over the words and the LaTeX 1- to 3-grams of a candidate.

    Robertson and Zaragoza, "The probabilistic relevance framework", 2009. Candidates that share nothing with the
    query are not results.
    """

    has_words: ClassVar[bool] = True
    has_latex: ClassVar[bool] = True

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        bm25s = _bm25s()
        self._ids = [candidate.id for candidate in candidates]
        self._numbers: dict[str, int] = {}
        corpus = [
            [self._numbers.setdefault(token, len(self._numbers)) for token in self.tokens(candidate)]
            for candidate in candidates
        ]
        self._bm25 = bm25s.BM25() if self._numbers else None
        if self._bm25 is not None:
            self._bm25.index((corpus, self._numbers), create_empty_token=False, show_progress=False)

    def rank(self, queries: Sequence[Candidate], depth: int) -> list[list[RunHit]]:
        """The best candidates of each query by score; equal scores have a fixed order."""
        return [self._ranked(query, depth) for query in queries]

    def tokens(self, candidate: Candidate) -> list[str]:
        """The terms of a candidate."""
        words = word_tokens(candidate.text) if self.has_words else []
        if not self.has_latex:
            return words
        return words + [
            gram for latex in candidate.formulas for gram in ngrams(latex_tokens(latex), LONGEST_NGRAM)
        ]

    def _ranked(self, query: Candidate, depth: int) -> list[RunHit]:
        known = [self._numbers[token] for token in self.tokens(query) if token in self._numbers]
        if self._bm25 is None or not known:
            return []
        scores = self._bm25.get_scores_from_ids(known)
        chosen = np.flatnonzero(scores > 0)
        if len(chosen) > depth:
            least = np.partition(scores[chosen], -depth)[-depth]
            chosen = chosen[scores[chosen] >= least]
        return list(ordered(RunHit(self._ids[place], float(scores[place])) for place in chosen)[:depth])


class WordsBm25(Bm25):
    """BM25 over words alone, without formulas."""

    has_latex = False


class LatexBm25(Bm25):
    """BM25 over the LaTeX 1- to 3-grams alone, without words."""

    has_words = False
