"""Combined runs: several runs fused topic by topic, or the results of a run reranked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.runs import DEPTH, Run, few
from mathamr.index.scored import Scored
from mathamr.search.fusion import fuse


def fuse_runs(
    runs: Sequence[Run],
    fusion: str = "rrf",
    weights: Sequence[float] | None = None,
    *,
    normalisation: str | None = None,
    depth: int = DEPTH,
    name: str = "",
) -> Run:
    """Fuse runs of any systems into one; a topic that some runs lack is fused from the others.

    >>> mine = Run.of("mine", {"A.1": [("7", 2.0), ("8", 1.0)]})
    >>> theirs = Run.of("theirs", {"A.1": [("8", 0.9), ("9", 0.3)]})
    >>> fuse_runs([mine, theirs]).ids("A.1")
    ['8', '7', '9']
    """
    if not runs:
        raise MathAMRError("give at least one run to fuse")
    topics = dict.fromkeys(topic for run in runs for topic in run.rankings)
    return _run(
        name or f"{fusion}({','.join(run.name for run in runs)})",
        {
            topic: fuse(fusion, [_hits(run, topic, depth) for run in runs], weights, depth, normalisation)
            for topic in topics
        },
    )


def remarks_on(runs: Sequence[Run]) -> list[str]:
    """Return remarks on runs to be fused; raise an error if no two runs share a topic.

    >>> mine = Run.of("mine", {"A.1": [("7", 2.0)], "A.2": [("8", 1.0)]})
    >>> remarks_on([mine, Run.of("theirs", {"A.1": [("7", 0.9)]})])
    ['theirs: lacks 1 of 2 topics, which are fused from the other runs (A.2)']
    """
    topics = Counter(topic for run in runs for topic in run.rankings)
    shared = [topic for topic, count in topics.items() if count > 1]
    if len(runs) > 1 and not shared:
        firsts = "; ".join(f"{run.name} has {few(list(run.rankings))}" for run in runs)
        raise MathAMRError(f"no topic is in more than one of the runs: {firsts}")
    remarks = [remark for run in runs for remark in run.remarks]
    for run in runs:
        if missing := [topic for topic in topics if topic not in run.rankings]:
            remarks.append(
                f"{run.name}: lacks {len(missing)} of {len(topics)} topics,"
                f" which are fused from the other runs ({few(missing)})"
            )
    if shared and not any(_agree(runs, topic) for topic in shared):
        remarks.append(
            "no result is in more than one of the runs; do they all have ids of the same kind (posts, formulas or visual ids)?"
        )
    return remarks


def rerank_run(
    run: Run,
    score: Callable[[str, Sequence[str]], Iterable[Scored]],
    *,
    pool: int = DEPTH,
    name: str = "",
) -> Run:
    """Rerank the first `pool` results of each topic by the scores of `score(topic, ids)`.

    Results without a score follow in their old order, then those below the pool.
    """
    rankings: dict[str, Sequence[Scored]] = {}
    for topic, hits in run.rankings.items():
        ids = run.ids(topic, pool)
        known = set(ids)
        scored = sorted(
            (hit for hit in score(topic, ids) if hit.id in known), key=lambda hit: (-hit.score, hit.id)
        )
        found = {hit.id for hit in scored}
        rankings[topic] = [*scored, *(Scored(hit.id, 0.0) for hit in hits if hit.id not in found)]
    return _run(name or f"{run.name}, reranked", rankings)


def _agree(runs: Sequence[Run], topic: str) -> bool:
    """Return True if some result of a topic is in more than one run."""
    found = Counter(hit.id for run in runs for hit in run.rankings.get(topic, ()))
    return any(count > 1 for count in found.values())


def _hits(run: Run, topic: str, depth: int) -> list[Scored]:
    return [Scored(hit.id, hit.score) for hit in run.rankings.get(topic, ())[:depth]]


def _run(name: str, rankings: Mapping[str, Sequence[Scored]]) -> Run:
    """Return a run in the given order; its scores are reciprocal ranks, since a run orders equal scores by id."""
    return Run.of(
        name,
        {
            topic: [(hit.id, 1.0 / place) for place, hit in enumerate(hits, 1)]
            for topic, hits in rankings.items()
        },
    )
