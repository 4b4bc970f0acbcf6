"""Indexes and their runs, as a user makes them: posts indexed with a model, topics searched by a strategy."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.runs import DEPTH, Run
from mathamr.evaluation.topics import Topic
from mathamr.evaluation.topicsearch import rerank_results, retrieve, scored_visuals, topic_query
from mathamr.index.indexing.builder import BuildOptions, BuildSummary, build_index
from mathamr.search.searcher import Index
from mathamr.systems.ranking import Ranking, Task
from mathamr_lab.experiments.setting import ExperimentSetting


def index_posts(
    setting: ExperimentSetting,
    folder: Path,
    model: Path | str,
    paths: Sequence[Path] = (),
    *,
    start: Path | None = None,
) -> BuildSummary:
    """Index posts, those of the collection unless others are named, with a model; with `start` only what differs from that index of
    them is made.
    """
    shutil.rmtree(folder, ignore_errors=True)
    if start is not None:
        shutil.copytree(start, folder)
    options = BuildOptions(
        model=model,
        parser=setting.parser,
        parser_model=setting.parser_model,
        beside=() if paths else setting.collection.beside,
        device=setting.device,
        workers=setting.workers,
        rebuild=start is not None,
    )
    return build_index(paths or setting.collection.paths, folder, options)


@contextmanager
def index_from(
    setting: ExperimentSetting, start: Path, model: Path | str, paths: Sequence[Path] = ()
) -> Iterator[Path]:
    """Yield an index with a model, made from another one of the same posts; it is removed at the end, since it can be large."""
    with TemporaryDirectory(dir=start.parent) as place:
        folder = Path(place) / "index"
        index_posts(setting, folder, model, paths, start=start)
        yield folder


def search_index(
    folder: Path,
    topics: Sequence[Topic],
    task: Task,
    strategies: Mapping[str, str | Ranking | None],
    depth: int = DEPTH,
    device: str = "auto",
    among: Qrels | None = None,
) -> Iterator[Run]:
    """Yield a run for each of the strategies, with its name: of what it finds, or of all that is judged `among` a topic's items."""
    judged = {} if among is None else among.grades
    given = Run.of("judged", {topic: [(item, 0.0) for item in items] for topic, items in judged.items()})
    most = max(map(len, judged.values()), default=0)
    with Index.open(folder, device=device) as opened:
        for name, strategy in strategies.items():
            found = (
                retrieve(opened, topics, task, strategy=strategy, depth=depth, name=name)
                if among is None
                else rerank_results(
                    opened, topics, given, task, strategy=strategy, depth=most, pool=most, name=name
                )
            )
            yield found.run()


def score_index(
    folder: Path, topics: Sequence[Topic], ids: Sequence[str], strategy: str, name: str, device: str
) -> Run:
    """Return the scores of all these visual ids for topics that ask for formulas; a run of what is found is shorter."""
    with Index.open(folder, device=device) as opened:
        _, ranking = opened.ranking("formulas", strategy)
        found = {
            topic.id: scored_visuals(opened, topic_query(topic, "formulas"), ids, ranking) for topic in topics
        }
    return Run.of(name, {topic: [(hit.id, hit.score) for hit in hits] for topic, hits in found.items()})
