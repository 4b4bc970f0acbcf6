"""What is found first by grep, by BM25 and by mathamr: `python -m mathamr_lab.studies.peers INDEX [COUNT]`.

Formulas drawn from an index, each of one entry alone, are typed in LaTeX, as they are and in other letters, alone and with a word of
the entry. grep looks for the formula as a string and for the word; BM25 ranks words and the commands, letters and signs of LaTeX.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from math import log
from random import Random

import numpy as np

from mathamr.evaluation.knownitems import content_words, unique_formulas
from mathamr.posts.post import Post
from mathamr.search.searcher import Index
from mathamr_lab.systems.text.letters import drawn, variables_of

SEED = 7
_TOKEN = re.compile(r"\\[A-Za-z]+|[^\W\d_]{2,}|\w|[^\w\s$\\{}]")


class Bm25:
    """BM25 over the tokens of posts, with the usual parameters.

    >>> Bm25([r"The sum $\\sum a_n$", r"The product $\\prod a_n$"]).rank(r"$\\prod a_n$")
    [1, 0]
    """

    def __init__(self, texts: Sequence[str], k1: float = 1.2, b: float = 0.75) -> None:
        counts = [Counter(_tokens(text)) for text in texts]
        lengths = np.array([each.total() for each in counts], float)
        self._norm = k1 * (1 - b + b * lengths / lengths.mean())
        self._k1, self._postings = k1, defaultdict[str, list[tuple[int, int]]](list)
        for number, each in enumerate(counts):
            for token, count in each.items():
                self._postings[token].append((number, count))

    def rank(self, query: str, most: int = 10) -> list[int]:
        """Return the numbers of the best texts that have a token of the query."""
        scores = np.zeros(len(self._norm))
        for token in _tokens(query):
            if postings := self._postings.get(token):
                rows, counts = np.array(postings).T
                weight = log(1 + (len(scores) - len(rows) + 0.5) / (len(rows) + 0.5))
                scores[rows] += weight * counts * (self._k1 + 1) / (counts + self._norm[rows])
        return [int(each) for each in np.argsort(-scores, kind="stable")[:most] if scores[each]]


def grep(texts: Sequence[str], latex: str, word: str) -> list[int]:
    """Return the numbers of the texts that contain a formula as it is typed and a word, in their order."""
    return [number for number, text in enumerate(texts) if latex in text and word in text.lower()]


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.lower())


def _text(post: Post) -> str:
    return f"{post.title}\n{post.body}"


def main() -> None:
    """Print the share of formulas whose entry is found first, by peer and form."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("index")
    parser.add_argument("count", type=int, nargs="?", default=300)
    asked = parser.parse_args()
    generator = np.random.default_rng(SEED)
    firsts: dict[tuple[str, str, str], list[bool]] = defaultdict(list)
    with Index.open(asked.index) as index:
        posts = list(index.archive.catalogue.every_post())
        texts, numbers = [_text(post) for post in posts], {post.id: n for n, post in enumerate(posts)}
        bm25 = Bm25(texts)
        entries = list(unique_formulas(posts))
        drawn_entries = (
            each
            for each in Random(SEED).sample(entries, len(entries))
            if content_words(each[0]) and variables_of([each[1].latex])
        )
        for (post, formula), _ in zip(drawn_entries, range(asked.count), strict=False):
            rename = drawn(variables_of([formula.latex]), generator, usual=True)
            word = content_words(post)[0]
            for letters, latex in (("own", formula.latex), ("other", rename(formula.latex))):
                for form, with_word in (("formula alone", ""), ("with a word", word)):
                    query = f"{with_word} ${latex}$".strip()
                    right = numbers[post.id]
                    firsts["grep", form, letters].append(grep(texts, latex, with_word.lower())[:1] == [right])
                    firsts["BM25", form, letters].append(bm25.rank(query, 1) == [right])
                    firsts["mathamr", form, letters].append(
                        [hit.id for hit in index.search(query, k=1)] == [post.id]
                    )
    print(f"found first, of {asked.count} formulas, each of one entry of {len(posts):,}")
    columns = [(form, letters) for form in ("formula alone", "with a word") for letters in ("own", "other")]
    print(" " * 8, *(f"{form}, {letters} letters" for form, letters in columns), sep="  ")
    for peer in ("grep", "BM25", "mathamr"):
        shares = (sum(found := firsts[peer, *column]) / len(found) for column in columns)
        print(f"{peer:8}", *(f"{share:.3f}" for share in shares))


if __name__ == "__main__":
    main()
