"""Mathematical prose for the network to learn spaCy's syntax from: sentences of posts with their formulas."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random

from mathamr.core.settings import DATA
from mathamr.posts.passage import passage
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr_lab.amr.syntax import Analysed, Analyser

SOURCES = {
    "arqmath-mini/Posts.xml": "arqmath-mini/heldout-questions.txt",
    "pairs/pairs.jsonl.gz": "pairs/heldout-pairs.txt",
}
SHARE = 0.25
"""The share of posts that are read, so that the sentences come from all of them."""
SHORTEST, LONGEST = 12, 300
"""Sentences of other lengths, in characters, are left out."""


def prose_sentences(most: int, seed: int = 1) -> list[tuple[str, dict[str, str]]]:
    """Sentences drawn from all posts but the held-out ones, each with the LaTeX of its placeholders."""
    found: list[tuple[str, dict[str, str]]] = []
    for posts, held_out in SOURCES.items():
        path = DATA.path / posts
        if not path.exists():
            continue
        unwanted = set((DATA.path / held_out).read_text(encoding="utf-8").split())
        found += islice(_sentences(path, unwanted, Random(seed)), most // len(SOURCES))
    Random(seed).shuffle(found)
    return found


def _sentences(path: Path, unwanted: set[str], random: Random) -> Iterator[tuple[str, dict[str, str]]]:
    for post in read_posts(path, Report()):
        if random.random() > SHARE or {post.id, post.parent, post.id.rpartition("/")[0]} & unwanted:
            continue
        latex = {formula.id: formula.latex for formula in post.formulas}
        for sentence in passage(post).sentences:
            if sentence.kind == "prose" and SHORTEST <= len(sentence.text) <= LONGEST:
                yield (
                    sentence.text,
                    {place.name: latex.get(place.formula, "") for place in sentence.placeholders},
                )


def analysed_prose(most: int, seed: int = 1) -> list[tuple[Analysed, dict[str, str]]]:
    """The sentences with spaCy's tags and dependencies."""
    sentences = prose_sentences(most, seed)
    analysed = Analyser().analyse([text for text, _ in sentences])
    return [(sentence, latex) for sentence, (_, latex) in zip(analysed, sentences, strict=True)]
