r"""What is there and is denied: words, names of operators and labels of a collection, each typed alone.

    python -m mathamr_lab.studies.denials sample.index --words 100 --labels 60

Words stand at least four times in the posts, operators of `symbols.tsv` in a word or a formula; each label is typed as it is, in
small and in capital letters. Printed is what is denied (nothing found, or nothing but similar hits); operators that are nowhere are
asked for, too, and those are printed that are not denied.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterable
from random import Random

from mathamr.formulas.latex.symbols import OPERATOR_ROLES, SYMBOLS
from mathamr.index.lexical.terms import STOP_WORDS
from mathamr.index.lexical.terms import words as words_of
from mathamr.posts.passage import PLACEHOLDER, passage
from mathamr.search.searcher import Index

SEED = 65
FEWEST = 4
"""A word that is drawn stands so often in the posts."""


def words(index: Index, count: int) -> list[str]:
    """Draw words of the prose of an index."""
    found: Counter[str] = Counter()
    for post in index.posts():
        for sentence in passage(post).sentences:
            if sentence.kind == "prose":
                found.update(words_of(PLACEHOLDER.sub(" ", sentence.text)))
    known = sorted(word for word, often in found.items() if often >= FEWEST and word not in STOP_WORDS)
    return Random(SEED).sample(known, min(count, len(known)))


def operators(index: Index) -> tuple[list[str], list[str]]:
    """Return the names of operators that stand in an index, and those that do not."""
    texts = [
        " ".join([passage(post).text, *(formula.latex for formula in post.formulas)])
        for post in index.posts()
    ]
    names = {
        symbol.name
        for command, symbol in SYMBOLS.items()
        if symbol.role in OPERATOR_ROLES and command[1:].isalpha()
    }
    there = [
        name
        for name in sorted(names)
        if any(map(re.compile(rf"(?<![a-zA-Z]){name}(?![a-zA-Z])").search, texts))
    ]
    return there, sorted(names - set(there))


def labels(index: Index, count: int) -> list[str]:
    """Draw labels of an index, each in its own letters, in small and in capital ones."""
    known = sorted({post.place.label for post in index.posts() if post.place and post.place.label})
    drawn = Random(SEED).sample(known, min(count, len(known)))
    return [typed for label in drawn for typed in (label, label.lower(), label.upper())]


def denied(index: Index, queries: Iterable[str]) -> list[str]:
    """Return the queries for which a search says that nothing, or only something similar, is there."""
    return [query for query in queries if index.search(query, k=3).found in ("similar", "nothing")]


def main() -> None:
    """Print what is denied of each kind."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("index")
    parser.add_argument("--words", type=int, default=100)
    parser.add_argument("--labels", type=int, default=60)
    asked = parser.parse_args()
    with Index.open(asked.index) as index:
        there, absent = operators(index)
        drawn = {
            "words": words(index, asked.words),
            "operators": there,
            "labels": labels(index, asked.labels),
        }
        for kind, queries in drawn.items():
            wrongly = denied(index, queries)
            print(f"{kind}: {len(wrongly)} of {len(queries)} denied {' '.join(wrongly)}".rstrip())
        rightly = denied(index, absent)
        found = [name for name in absent if name not in rightly]
        print(
            f"absent operators: {len(rightly)} of {len(absent)} denied, not {' '.join(found)}".removesuffix(
                ", not "
            )
        )


if __name__ == "__main__":
    main()
