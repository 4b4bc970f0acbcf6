"""Baselines by name: each ranks the posts or formulas of a collection for topics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from mathamr.core.registry import Registry
from mathamr.evaluation.baselines.candidate import Candidate, candidates, query
from mathamr.evaluation.runs import DEPTH, Run, RunHit
from mathamr.evaluation.topics import Topic
from mathamr.posts.post import Post
from mathamr.systems.ranking import Task

__all__ = ["BASELINES", "Baseline", "Candidate", "candidates", "query", "run"]


class Baseline(Protocol):
    """Ranks candidates, which may be read only once, for queries."""

    def __init__(self, candidates: Iterable[Candidate]) -> None: ...

    def rank(self, queries: Sequence[Candidate], depth: int) -> list[list[RunHit]]:
        """Return the best candidates of each query, at most `depth`."""
        ...


BASELINES: Registry[type[Baseline]] = Registry(
    "baseline",
    {
        "random": "mathamr.evaluation.baselines.shuffle:Shuffle",
        "bm25": "mathamr.evaluation.baselines.bm25:Bm25",
        "bm25-words": "mathamr.evaluation.baselines.bm25:WordsBm25",
        "latex-ngrams": "mathamr.evaluation.baselines.bm25:LatexBm25",
    },
)


def run(name: str, posts: Iterable[Post], topics: Sequence[Topic], task: Task, depth: int = DEPTH) -> Run:
    """Return the run of a baseline: answers by post id, or formulas by visual id, each once."""
    found = BASELINES[name](candidates(posts, task)).rank([query(topic, task) for topic in topics], depth)
    return Run.of(name, {topic.id: hits for topic, hits in zip(topics, found, strict=True)})
