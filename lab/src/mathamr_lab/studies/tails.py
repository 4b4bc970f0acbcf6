"""The end of a long entry against its beginning: is a sentence that is typed exactly found first, by the usual ranking and by words alone?

    python -m mathamr_lab.studies.tails book.index

An entry is long if the text encoder cuts it into more than 1,016 word pieces, which is as far as vectors went once; its tail is what
stands behind them. The sentences are drawn by a seed, the same for all versions. Sentences without a vector are counted in all entries.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from mathamr.evaluation.table import aligned
from mathamr.posts.level import Level
from mathamr.posts.post import Post
from mathamr.search.searcher import Index
from mathamr.systems.mathamrplus.system import PARTS
from mathamr.systems.text.system import TextSystem
from mathamr.text.wording import wording_alone
from mathamr.text.wordpieces import WordPieces

SEED = 65
COUNT = 120
FIRST = 1016
SHORTEST, LONGEST = 40, 400
"""Characters of a sentence that is typed."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an entry: its number there, and whether it begins behind the first word pieces."""

    entry: str
    number: str
    text: str
    is_tail: bool


def sentences_of(post: Post, pieces: WordPieces) -> tuple[list[Sentence], int]:
    """Return the sentences of an entry, and how many word pieces it has."""
    wording, parts = wording_alone(post)
    (cut,) = pieces.cut([wording])
    begins = dict(zip(cut.of.tolist(), cut.starts.tolist(), strict=True))
    found = [
        Sentence(
            post.id,
            name,
            wording.text[span.start : span.end],
            begins.get(span.representative, FIRST) >= FIRST,
        )
        for (level, name), span in zip(parts, wording.spans, strict=True)
        if level == Level.SENTENCE
    ]
    return found, len(cut)


def drawn(sentences: Sequence[Sentence], count: int) -> list[Sentence]:
    """Return sentences that occur once and are neither very short nor very long, drawn by the seed."""
    times = Counter(each.text for each in sentences)
    fitting = [each for each in sentences if times[each.text] == 1 and SHORTEST <= len(each.text) <= LONGEST]
    return Random(SEED).sample(fitting, min(count, len(fitting)))


def without_vectors(index: Index, sentences: Sequence[Sentence]) -> int:
    """Return how many sentences have no vector in the index."""
    field = index.archive.engine[PARTS]
    of: dict[str, set[str]] = {}
    entries = sorted({each.entry for each in sentences})
    for start in range(0, len(entries), 100):
        for entry, rows in field.fetch(entries[start : start + 100]).items():
            of[entry] = set(rows.at(Level.SENTENCE)[0])
    return sum(each.number not in of.get(each.entry, ()) for each in sentences)


def counts(index: Index, sentences: Sequence[Sentence]) -> list[str]:
    """Return how many sentences find their entry first and in ten, by the usual ranking and by words alone."""
    found = []
    for strategy in (None, "lexical"):
        ids = [[hit.id for hit in index.search(each.text, strategy=strategy)] for each in sentences]
        for depth in (1, 10):
            count = sum(each.entry in own[:depth] for each, own in zip(sentences, ids, strict=True))
            found.append(str(count))
    return found


def main() -> None:
    """Print how many sentences of each part are found first and among the first ten, and how many have no vector."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("index")
    parser.add_argument("count", type=int, nargs="?", default=COUNT)
    asked = parser.parse_args()
    with Index.open(asked.index) as index:
        system = index.archive.system
        if not isinstance(system, TextSystem):
            parser.error(f"{asked.index} was made with {system.name}, which is no text encoder alone")
        pieces = system.encoder.pieces
        every: list[Sentence] = []
        of_long: list[Sentence] = []
        for post in index.archive.catalogue.every_post():
            found, length = sentences_of(post, pieces)
            every += found
            of_long += found if length > FIRST else []
        print(f"{without_vectors(index, every):,} of {len(every):,} sentences have no vector")
        rows = [["", "sentences", "first", "in ten", "first by words", "in ten by words"]]
        for part in ("first part", "tail"):
            chosen = drawn([each for each in of_long if each.is_tail == (part == "tail")], asked.count)
            rows.append([part, str(len(chosen)), *counts(index, chosen)])
        print(aligned(rows))


if __name__ == "__main__":
    main()
