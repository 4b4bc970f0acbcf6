"""The words of the mathematical lexicon against the sources whose terms they are."""

from __future__ import annotations

import gzip
import json
import re
import tarfile
from pathlib import Path

from mathamr import read_posts, sample
from mathamr.amr.builtin.lemmas import lemma
from mathamr.amr.builtin.mathematics import ADJECTIVES, OBJECTS

_LETTERS = re.compile(r"[A-Z]?[a-z]{2,}")
_DECLARED = re.compile(r"^\s*(?:theorem|lemma|def|class|structure|instance|abbrev) ([\w.']+)", re.MULTILINE)


def words(text: str) -> set[str]:
    return {lemma(each.lower(), "NNS") for each in _LETTERS.findall(text)} | {
        each.lower() for each in _LETTERS.findall(text)
    }


def test_every_word_of_the_lexicon_is_a_term_of_two_sources(data: Path) -> None:
    with gzip.open(data / "planetmath" / "entries.jsonl.gz", "rt", encoding="utf-8") as lines:
        entries = [json.loads(line) for line in lines]
    titles = " ".join(each for row in entries for each in (row["title"], *row["defines"], *row["synonyms"]))
    names: list[str] = []
    with tarfile.open(data / "mathlib" / "Mathlib.tar.xz") as archive:
        for member in archive:
            if member.name.endswith(".lean") and (file := archive.extractfile(member)) is not None:
                names += _DECLARED.findall(file.read().decode("utf-8", "replace"))
    posts = " ".join(f"{post.title} {post.body}" for post in read_posts(sample.folder() / "Posts.xml"))
    sources = [words(titles), words(" ".join(names)), words(posts)]
    alone = {each for each in OBJECTS | ADJECTIVES if sum(each in source for source in sources) < 2}
    assert not alone
