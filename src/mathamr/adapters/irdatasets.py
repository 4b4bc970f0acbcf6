"""A test collection in the form of an ir_datasets dataset: documents, queries and judgments as named tuples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from mathamr.adapters.records import readable
from mathamr.evaluation.qrels import read_qrels
from mathamr.evaluation.topics import read_topics
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report


class GenericDoc(NamedTuple):
    """A post; its text begins with its title and has formulas between dollar signs."""

    doc_id: str
    text: str
    kind: str


class GenericQuery(NamedTuple):
    """A topic, as text like a document's."""

    query_id: str
    text: str


class TrecQrel(NamedTuple):
    """A grade of a document for a query."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


@dataclass(frozen=True, slots=True)
class Dataset:
    """Files of ARQMath, or any that `mathamr posts`, `run --topics` and `evaluate --qrels` read."""

    posts: Path | str
    topics: Path | str
    qrels: Path | str

    def docs_iter(self) -> Iterator[GenericDoc]:
        """Yield the posts in the order of their files."""
        for post in read_posts(Path(self.posts), Report()):
            yield GenericDoc(post.id, readable(post), post.kind)

    def queries_iter(self) -> Iterator[GenericQuery]:
        """Yield the topics."""
        for topic in read_topics(self.topics):
            yield GenericQuery(topic.id, readable(topic.post))

    def qrels_iter(self) -> Iterator[TrecQrel]:
        """Yield the judgments."""
        for topic, grades in read_qrels(self.qrels).grades.items():
            for item, grade in grades.items():
                yield TrecQrel(topic, item, grade)
