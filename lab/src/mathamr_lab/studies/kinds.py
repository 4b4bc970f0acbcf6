"""Weights of the hybrid by the form of the query: complete questions, their titles, first words and longest formulas.

The questions are the validation questions of text encoders: neither held out for tests nor trained on. Each is searched
complete and shortened, and its own answers are to be found among all. `MATHAMR_HYBRID` names the folder of the study `hybrid`:
its `arqmath` and `pairs` are indexes of arqmath-mini and of the pairs, and runs are cached there as `runs/SET/COMPONENT.run`.
The row to trust is `cross-validated`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.topics import Topic
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.search.query import Query
from mathamr.systems.ranking import QueryKind
from mathamr.text.wording import written_sentences
from mathamr_lab.data import data_folder
from mathamr_lab.studies.hybrid import baseline_of, kept_runs, report
from mathamr_lab.studies.testsets import TopicSet, environment
from mathamr_lab.systems.text.materials import LEAST_FORMULA, held_threads
from mathamr_lab.training.export import ids_in, listed

SOURCES = {
    "arqmath": ("arqmath-mini/Posts.xml", "arqmath-mini/heldout-questions.txt"),
    "pairs": ("pairs/pairs.jsonl.gz", "pairs/heldout-pairs.txt"),
}
KINDS: dict[str, QueryKind] = {
    "question": "question",
    "title": "words",
    "words": "words",
    "formula": "formula",
}
FIRST_WORDS, LONGEST_FORMULA = 14, 400


def run() -> None:
    place = environment("MATHAMR_HYBRID")
    for name, (source, without) in SOURCES.items():
        if not (Path(place) / name).is_dir():
            print(f"left out: {place} has no index {name}")
            continue
        posts = list(read_posts(data_folder() / source, Report()))
        for each in sets(name, posts, set(ids_in(data_folder() / without))):
            report(each, baseline_of(each, posts), kept_runs(each, Path(place)))


def sets(name: str, posts: list[Post], unwanted: set[str]) -> Iterator[TopicSet]:
    """Returns the validation questions of a collection, complete and shortened."""
    given = {post.id: post for post in posts}
    answers: dict[str, dict[str, int]] = {}
    for post in posts:
        parent = post.parent if post.role == "answer" else None
        if parent in given and not listed(post.id, unwanted) and not listed(parent, unwanted):
            answers.setdefault(parent, {})[post.id] = 3
    held = sorted(held_threads(answers))
    asked: dict[str, dict[str, Post]] = {"question": {}, "title": {}, "words": {}, "formula": {}}
    for identifier in held:
        for kind, post in _cut(given[identifier]):
            asked[kind][identifier] = post
    for kind, found in asked.items():
        if found:
            topics = tuple(
                Topic(identifier, replace(post, id=identifier)) for identifier, post in found.items()
            )
            grades = Qrels({each: answers[each] for each in found})
            yield TopicSet(f"{name}-{kind}", name, "answers", topics, grades, KINDS[kind])


def _cut(question: Post) -> Iterator[tuple[str, Post]]:
    """Returns a question in full, and what might be typed instead of it."""
    yield "question", question
    sentences = written_sentences(question)
    texts = {"title": sentences[0] if question.title.strip() else ""}
    words = " ".join(sentences).split()
    if len(words) > FIRST_WORDS:
        texts["words"] = " ".join(words[:FIRST_WORDS])
    longest = max((formula.latex for formula in question.formulas), key=len, default="")
    if LEAST_FORMULA <= len(longest) <= LONGEST_FORMULA:
        texts["formula"] = f"${longest}$"
    for kind, text in texts.items():
        try:
            if text:
                yield kind, Query.of_text(text).post
        except MathAMRError:  # half a formula, or nothing to search for
            continue
