"""What should be known about the queries of a run is told, and not drowned in itself."""

from __future__ import annotations

from pathlib import Path

from mathamr.evaluation.topics import Topic
from mathamr.evaluation.topicsearch import MOST_NOTES, retrieve
from mathamr.posts.post import Post
from mathamr.search.searcher import Index


def topic(number: int, body: str) -> Topic:
    return Topic(f"A.{number}", Post(f"A.{number}", "question", body, markup="text"))


def test_a_note_is_note_lines_once_with_the_topics_it_is_true_of(sample_index: Path) -> None:
    topics = [topic(number, "zzxqv qqjvw") for number in range(5)] + [topic(9, "compact sets")]
    with Index.open(sample_index) as index:
        reported = retrieve(index, topics, "answers", strategy="lexical", depth=5).remarks
    assert reported == ["topics A.0, A.1, A.2, …: nothing that passes the filter matches the query"]


def test_of_many_different_notes_the_first_are_note_lines_and_the_rest_counted(sample_index: Path) -> None:
    broken = [topic(number, f"compact sets $\\left(x_{{{number}}}$") for number in range(MOST_NOTES + 3)]
    with Index.open(sample_index) as index:
        reported = retrieve(index, broken, "answers", strategy="lexical", depth=5).remarks
    assert len(reported) == MOST_NOTES + 1
    assert reported[0].startswith("topic A.0: the formula $\\left(x_{0}$ ")
    assert reported[-1] == "… and 3 more notes of this kind"
