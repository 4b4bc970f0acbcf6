"""Runs of several systems made one: fused topic by topic, or one system's results ranked again by another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from mathamr.errors import MathAMRError
from mathamr.evaluation.runs import DEPTH, Run
from mathamr.index.point import Scored
from mathamr.search.fusion import fuse


def fuse_runs(
    runs: Sequence[Run],
    fusion: str = "rrf",
    weights: Sequence[float] | None = None,
    *,
    depth: int = DEPTH,
    name: str = "",
) -> Run:
    """One run of several, whoever made them; a topic that some lack is fused from the others.

    >>> mine = Run.of("mine", {"A.1": [("7", 2.0), ("8", 1.0)]})
    >>> theirs = Run.of("theirs", {"A.1": [("8", 0.9), ("9", 0.3)]})
    >>> fuse_runs([mine, theirs]).ids("A.1")
    ['8', '7', '9']
    """
    if not runs:
        raise MathAMRError("no run to fuse")
    topics = dict.fromkeys(topic for run in runs for topic in run.rankings)
    return _run(
        name or f"{fusion}({','.join(run.name for run in runs)})",
        {topic: fuse(fusion, [_hits(run, topic, depth) for run in runs], weights, depth) for topic in topics},
    )


def rerank_run(
    run: Run,
    score: Callable[[str, Sequence[str]], Iterable[Scored]],
    *,
    depth: int = DEPTH,
    name: str = "",
) -> Run:
    """The first `depth` results of each topic in the order of the scores that `score(topic, ids)` gives them.

    What gets no score comes after, in its old order.
    """
    rankings: dict[str, list[Scored]] = {}
    for topic in run.rankings:
        ids = run.ids(topic, depth)
        known = set(ids)
        scored = sorted(
            (hit for hit in score(topic, ids) if hit.id in known), key=lambda hit: (-hit.score, hit.id)
        )
        found = {hit.id for hit in scored}
        rankings[topic] = [*scored, *(Scored(item, 0.0) for item in ids if item not in found)]
    return _run(name or f"{run.name}, reranked", rankings)


def _hits(run: Run, topic: str, depth: int) -> list[Scored]:
    return [Scored(hit.id, hit.score) for hit in run.rankings.get(topic, ())[:depth]]


def _run(name: str, rankings: dict[str, list[Scored]]) -> Run:
    """A run in exactly that order: equal scores would be ordered by id, so ranks are the scores."""
    return Run.of(
        name,
        {
            topic: [(hit.id, 1.0 / place) for place, hit in enumerate(hits, 1)]
            for topic, hits in rankings.items()
        },
    )
