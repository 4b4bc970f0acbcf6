"""Hubs: what the default ranking of answers gains if a share of their hubness is subtracted from its first results.

Shares, pools and neighbours are compared on validation questions, complete and shortened, and on the judged topics of Task 1, which
are for development. `MATHAMR_HYBRID` names the folder of the study `hybrid` with the indexes `arqmath` and `pairs`; the fused
rankings are cached there as `fused/SET.run`. With `MATHAMR_HELD_OUT=1` the held-out known items are measured instead,
only with the current pool and neighbours, and with the shares 0 and the current one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from mathamr.evaluation.measures import measures
from mathamr.evaluation.runs import Run, read_run, write_run
from mathamr.evaluation.scores import Scores, evaluate
from mathamr.evaluation.significance import paired_t_test
from mathamr.evaluation.table import aligned
from mathamr.evaluation.topicsearch import retrieve
from mathamr.index.engines.engine import FieldReader
from mathamr.index.scored import Scored
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.search.hubness import hubness, penalise_hubs
from mathamr.search.ranker import followed
from mathamr.search.searcher import Index
from mathamr.systems.mathamrplus.system import MathAMRPlusSystem
from mathamr.systems.ranking import Promote, Unhub
from mathamr_lab.data import data_folder
from mathamr_lab.studies.kinds import SOURCES, sets
from mathamr_lab.studies.testsets import TopicSet, environment, topic_sets
from mathamr_lab.training.export import ids_in

SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
POOLS = ((30, 5), (30, 10), (50, 5), (50, 10), (100, 10))
"""Pairs of the number of first results and the number of neighbours of each among them."""


def run() -> None:
    place = environment("MATHAMR_HYBRID")
    used = in_use()
    held_out = bool(os.environ.get("MATHAMR_HELD_OUT"))
    pools: Sequence[tuple[int, int]] = [(used.pool, used.neighbours)] if held_out else POOLS
    shares = (0.0, used.share) if held_out else SHARES
    for name in SOURCES:
        if not (Path(place) / name).is_dir():
            print(f"left out: {place} has no index {name}")
            continue
        with Index.open(Path(place) / name) as index:
            for each in _asked(name, held_out):
                fused = kept_fused(each, index, Path(place) / "fused")
                field = index.archive.engine[used.field]
                found = {pool: [taken_off(fused, field, *pool, share) for share in shares] for pool in pools}
                _report(each, found, shares)


def in_use() -> Unhub:
    """Returns the hub setting of the default ranking."""
    usual = MathAMRPlusSystem.rankings["answers"]["hybrid"]
    assert isinstance(usual, Promote)
    assert isinstance(usual.ranking, Unhub)
    return usual.ranking


def _asked(collection: str, held_out: bool) -> Iterator[TopicSet]:
    judged = [each for each in topic_sets(data_folder()) if each.collection == collection]
    if held_out:
        yield from (each for each in judged if each.task == "answers" and each.name != "task1")
        return
    source, without = SOURCES[collection]
    posts = list(read_posts(data_folder() / source, Report()))
    yield from sets(collection, posts, set(ids_in(data_folder() / without)))
    yield from (each for each in judged if each.name == "task1")


def kept_fused(each: TopicSet, index: Index, folder: Path) -> Run:
    """Returns the fused ranking of a set's topics, computed once."""
    path = folder / f"{each.name}.run"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_run(retrieve(index, each.topics, each.task, strategy="fused").run(), path)
    return read_run(path)


def taken_off(run: Run, field: FieldReader, pool: int, neighbours: int, share: float) -> Run:
    """Subtracts a share of the hubness from the first results of every topic, as the ranking does."""
    rankings: dict[str, list[tuple[str, float]]] = {}
    for topic, ranked in run.rankings.items():
        hits: Sequence[Scored] = [Scored(hit.id, hit.score) for hit in ranked]
        if share and len(hits) >= pool:
            rows = field.fetch([hit.id for hit in hits[:pool]])
            near = hubness({name: own.vectors[0] for name, own in rows.items() if len(own)}, neighbours)
            hits = followed(penalise_hubs(hits[:pool], near, share), hits[pool:])
        rankings[topic] = [(hit.id, hit.score) for hit in hits]
    return Run.of(run.name, rankings)


def _report(each: TopicSet, found: dict[tuple[int, int], list[Run]], shares: Sequence[float]) -> None:
    """Prints the first measure by share, with the t of the paired test against a share of 0, and recall."""
    chosen = measures(each.measures)
    first, *others = each.measures
    rows = [["first, neighbours", *(f"{first} at {share:g}" for share in shares), *others]]
    for (pool, neighbours), runs in found.items():
        scores = [evaluate(run, each.qrels, chosen) for run in runs]
        figures = [f"{scores[0].mean(first):.4f}"]
        figures += [f"{score.mean(first):.4f} (t {_t(score, scores[0], first)})" for score in scores[1:]]
        beside = [" ".join(f"{score.mean(name):.3f}" for score in scores) for name in others]
        rows.append([f"{pool}, {neighbours}", *figures, *beside])
    print(f"\n{each.name}: {len(each.topics)} topics")
    print(aligned(rows), flush=True)


def _t(found: Scores, other: Scores, measure: str) -> str:
    test = paired_t_test(list(found.values[measure].values()), list(other.values[measure].values()))
    return "–" if test.statistic is None else f"{test.statistic:.1f}"
