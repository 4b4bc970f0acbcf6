"""BM25 over words, over n-grams of LaTeX tokens, or over both."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.evaluation.baselines.candidate import Candidate
from mathamr.evaluation.runs import RunHit, ordered
from mathamr.index.lexical.terms import LONGEST_NGRAM, latex_tokens, ngrams, word_tokens

K1, B = 1.5, 0.75


class Bm25:
    """BM25 (Lucene's form, k1 = 1.5, b = 0.75) over the words and the LaTeX 1- to 3-grams of a candidate.

    Robertson and Zaragoza, "The probabilistic relevance framework", 2009. Candidates that share nothing with the
    query are not results. Candidates are read one at a time when queries are ranked, and only the occurrences of the
    queries' terms are kept: a collection of any size has few of them.
    """

    has_words: ClassVar[bool] = True
    has_latex: ClassVar[bool] = True

    def __init__(self, candidates: Iterable[Candidate]) -> None:
        self._candidates = candidates
        self._ids: list[str] = []

    def rank(self, queries: Sequence[Candidate], depth: int) -> list[list[RunHit]]:
        """Return the best candidates of each query by score; equal scores have a fixed order."""
        return [self._best(scores, depth) for scores in self.scores(queries)]

    def scores(self, queries: Sequence[Candidate]) -> Iterator[FloatArray]:
        """Yield the scores of all candidates, query by query; 0 for those that share nothing with it."""
        asked = [self.tokens(query) for query in queries]
        numbers: dict[str, int] = {}
        for token in (token for tokens in asked for token in tokens):
            numbers.setdefault(token, len(numbers))
        self._ids = []
        lengths, rows, terms, counts = array("i"), array("i"), array("i"), array("i")
        for candidate in self._candidates:
            tokens = self.tokens(candidate)
            for number, count in Counter(numbers[token] for token in tokens if token in numbers).items():
                rows.append(len(lengths))
                terms.append(number)
                counts.append(count)
            lengths.append(len(tokens))
            self._ids.append(candidate.id)
        order = np.argsort(np.frombuffer(terms, np.int32), kind="stable") if terms else np.zeros(0, np.int64)
        holding = np.bincount(np.array(terms, np.int64), minlength=len(numbers))
        starts = np.append(0, np.cumsum(holding))
        weights = np.log1p((len(lengths) - holding + 0.5) / (holding + 0.5))
        length = np.array(lengths, np.float64)
        norms = K1 * (1 - B + B * length / max(length.mean() if len(length) else 0.0, 1e-9))
        row, often = np.array(rows, np.int64)[order], np.array(counts, np.float64)[order]
        shares = (often / (often + norms[row])).astype(np.float32)
        for tokens in asked:
            found: FloatArray = np.zeros(len(length), np.float32)
            for number in (numbers[token] for token in tokens):
                own = slice(int(starts[number]), int(starts[number + 1]))
                found[row[own]] += np.float32(weights[number]) * shares[own]
            yield found

    def tokens(self, candidate: Candidate) -> list[str]:
        """Return the terms of a candidate."""
        words = word_tokens(candidate.text) if self.has_words else []
        if not self.has_latex:
            return words
        return words + [
            gram for latex in candidate.formulas for gram in ngrams(latex_tokens(latex), LONGEST_NGRAM)
        ]

    def _best(self, scores: FloatArray, depth: int) -> list[RunHit]:
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
