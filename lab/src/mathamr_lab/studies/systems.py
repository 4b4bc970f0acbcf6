"""Every system on arqmath-mini: both tasks with bootstrap intervals over topics, size of the index, and speed.

`MATHAMR_SYSTEMS` names the models, separated by spaces, and `MODEL@RANKING` another ranking of the same index;
by default all models in the box with their first ranking. `MATHAMR_SYSTEMS_AT` is the folder in which indexes
(`MODEL.index`), figures (`MODEL.json`) and runs (`NAME-TASK.run.gz`) are cached: existing ones are not computed again, and
runs of other systems, added under names of their own, become rows as well. `MATHAMR_SYSTEMS_JOBS` processes build an index, and
`MATHAMR_SYSTEMS_TABLE=1` only prints the table of the existing results.

Speeds are those of one core: `index` is from a file of posts to a complete index, `queries` is the search for a topic,
1,000 deep. Indexing everything with every model takes hours of one core; `mathamr plan --measure` estimates the cost of one.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.core.modelfolder import read_config
from mathamr.evaluation.baselines import run as baseline_run
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.runs import DEPTH, Run, read_run, run_lines
from mathamr.evaluation.scores import evaluate
from mathamr.evaluation.significance import bootstrap_interval
from mathamr.evaluation.topicsearch import retrieve
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.search.searcher import Index
from mathamr.systems.models import boxed, model_folder
from mathamr.systems.ranking import Task
from mathamr_lab.data import data_folder
from mathamr_lab.studies.testsets import mini_files, read_topic_files

TESTS: dict[str, tuple[Task, tuple[str, ...], tuple[str, ...]]] = {
    "task1": ("answers", ("task1-2020", "task1-2021"), ("nDCG'", "Bpref")),
    "task2": ("formulas", ("task2-2020", "task2-2021"), ("nDCG'", "MAP'", "Bpref")),
    "known-items": ("answers", ("known-items",), ("MRR@10",)),
}
"""By name: the task, the files of topics and judgments, and the measures."""
BASELINES = {"task1": ("random", "bm25"), "task2": ("random", "latex-ngrams"), "known-items": ("bm25",)}
KNOWN_DEPTH = 100
"""The number of results of known items that are stored: their measure needs ten."""
TIMED = 20
"""The number of topics whose search is timed."""
SAMPLE = 60
"""The number of posts that one core indexes."""


def run() -> None:
    mini = data_folder() / "arqmath-mini"
    named = os.environ.get("MATHAMR_SYSTEMS", "").split() or list(boxed())
    given = os.environ.get("MATHAMR_SYSTEMS_AT")
    with tempfile.TemporaryDirectory(prefix="mathamr-systems-") as temporary:
        folder = Path(given or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if not os.environ.get("MATHAMR_SYSTEMS_TABLE"):
            _baselines(mini, folder)
            for name in named:
                try:
                    _measure(name, mini, folder)
                except (MathAMRError, subprocess.CalledProcessError) as error:
                    print(f"  {name} is left out: {error}", flush=True)
        for line in table(mini, folder):
            print(line)


def _baselines(mini: Path, folder: Path) -> None:
    posts = None
    for test, names in BASELINES.items():
        task, files, _ = TESTS[test]
        for name in names:
            path = folder / f"{name}-{test}.run.gz"
            if not path.exists():
                posts = posts or list(read_posts(mini / "Posts.xml", Report()))
                _write(
                    baseline_run(name, posts, read_topic_files(mini_files(mini.parent, *files))[0], task),
                    path,
                )


def _measure(name: str, mini: Path, folder: Path) -> None:
    """Indexes the posts, and searches for all topics, unless that was done before."""
    model, _, strategy = name.partition("@")
    index, figures = folder / f"{_plain(model)}.index", folder / f"{_plain(model)}.json"
    if not figures.exists():
        jobs = os.environ.get("MATHAMR_SYSTEMS_JOBS", str(os.cpu_count() or 1))
        row = _indexed(mini / "Posts.xml", model, index, ["--workers", jobs], {})
        row |= {"one core": _one_core(mini, model), "rows": _rows(index, model), "training": _training(model)}
        figures.write_text(json.dumps(row) + "\n", encoding="utf-8")
    with Index.open(index, device="cpu", model=model) as opened:
        for test, (task, files, _) in TESTS.items():
            path = folder / f"{_plain(name)}-{test}.run.gz"
            if task not in opened.tasks or path.exists():
                continue
            topics, _ = read_topic_files(mini_files(mini.parent, *files))
            retrieve(opened, topics[:1], task, strategy=strategy or None)
            started = time.perf_counter()
            retrieve(opened, topics[:TIMED], task, strategy=strategy or None)
            rate = len(topics[:TIMED]) / (time.perf_counter() - started)
            found = retrieve(opened, topics, task, strategy=strategy or None, name=name)
            _write(found.run(), path, KNOWN_DEPTH if test == "known-items" else DEPTH)
            _note(folder / f"{_plain(name)}.speed.json", test, rate)
            print(f"  {name} {test}: {rate:.2f} queries/s", flush=True)


def _rows(index: Path, model: str) -> int:
    """Returns the number of vectors in an index; an entry may have many."""
    total = 0
    with Index.open(index, device="cpu", model=model) as opened:
        engine = opened.archive.engine
        for field in engine.fields:
            ids = iter(engine[field.name].ids())
            while part := list(islice(ids, 256)):
                total += sum(map(len, engine[field.name].fetch(part).values()))
    return total


def _plain(name: str) -> str:
    """Returns a model's name, or the last part of its folder's name, as part of a file name."""
    return Path(name).name


def _indexed(
    posts: Path, model: str, out: Path, options: Sequence[str], environment: dict[str, str]
) -> dict[str, object]:
    command = [
        sys.executable,
        "-m",
        "mathamr",
        "index",
        str(posts),
        "--out",
        str(out),
        "--model",
        model,
        "--json",
    ]
    # The folder may contain an index of another model with graphs that this one needs too.
    again = ["--rebuild"] if out.exists() else []
    done = subprocess.run(
        [*command, *options, *again],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    row: dict[str, object] = json.loads(done.stdout)
    row["disk"] = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    return row


def _one_core(mini: Path, model: str) -> float:
    """Returns posts per second from a file to an index, by one process with one thread; its start is not counted."""
    with tempfile.TemporaryDirectory(prefix="mathamr-systems-") as name:
        path = Path(name) / "posts.jsonl"
        chosen = islice(read_posts(mini / "Posts.xml", Report()), 0, 100 * SAMPLE, 100)
        path.write_text("".join(post.to_json() + "\n" for post in chosen), encoding="utf-8")
        options = ["--workers", "1", "--device", "cpu"]
        row = _indexed(path, model, Path(name) / "index", options, {"OMP_NUM_THREADS": "1"})
        return float(str(row["posts_per_second"]))


def _note(path: Path, test: str, rate: float) -> None:
    row = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(json.dumps(row | {test: rate}) + "\n", encoding="utf-8")


def _write(run: Run, path: Path, depth: int = DEPTH) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(run_lines(run, depth))


def table(mini: Path, folder: Path) -> Iterator[str]:
    """Returns Markdown with a row for everything that has a run in the folder."""
    judged = {
        test: read_topic_files(mini_files(mini.parent, *files))[1] for test, (_, files, _) in TESTS.items()
    }
    heads = [f"{test} {measure}" for test, (_, _, names) in TESTS.items() for measure in names]
    costs = ["vectors", "MB", "training", "index posts/s", "answers/s", "formulas/s"]
    yield "| system | " + " | ".join([*heads, *costs]) + " |"
    yield "| --- |" + " --: |" * (len(heads) + len(costs))
    names = {
        path.name.removesuffix(f"-{test}.run.gz")
        for test in TESTS
        for path in folder.glob(f"*-{test}.run.gz")
    }
    order = {name: place for place, name in enumerate(os.environ.get("MATHAMR_SYSTEMS", "").split())}
    for name in sorted(names, key=lambda each: (order.get(each, len(order)), each)):
        cells: list[str] = []
        for test, (_, _, wanted) in TESTS.items():
            path = folder / f"{name}-{test}.run.gz"
            cells += _effect(path, judged[test], wanted) if path.exists() else ["–"] * len(wanted)
        yield "| " + " | ".join([name, *cells, *_costs(name, folder)]) + " |"
    counts = ", ".join(f"{test} {len(qrels.topics)}" for test, qrels in judged.items())
    yield ""
    yield f"Topics: {counts}. In brackets 95 % bootstrap intervals over topics (10,000 samples)."


def _effect(path: Path, qrels: Qrels, names: Sequence[str]) -> list[str]:
    scores = evaluate(read_run(path), qrels, measures(names))
    cells = []
    for name in scores.measures:
        interval = bootstrap_interval(list(scores.values[name].values()))
        shown = "" if interval is None else f" [{_short(interval[0])}, {_short(interval[1])}]"
        cells.append(f"{_short(scores.mean(name))}{shown}")
    return cells


def _short(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def _costs(name: str, folder: Path) -> list[str]:
    model = name.partition("@")[0]
    figures, speed = folder / f"{model}.json", folder / f"{name}.speed.json"
    row = json.loads(figures.read_text(encoding="utf-8")) if figures.exists() else {}
    rates = json.loads(speed.read_text(encoding="utf-8")) if speed.exists() else {}
    seconds = row.get("training", 0)
    return [
        f"{row['rows']:,}" if "rows" in row else "–",
        f"{row['disk'] / 1e6:,.0f}" if "disk" in row else "–",
        f"{seconds:,.0f} s" if seconds else "–",
        f"{row['one core']:.1f}" if "one core" in row else "–",
        *(f"{rates[test]:.1f}" if test in rates else "–" for test in ("task1", "task2")),
    ]


def _training(model: str) -> float:
    """Returns the seconds of a model's training if its folder records them, otherwise 0."""
    training = read_config(model_folder(model)).get("training")
    shown = training.get("seconds", 0) if isinstance(training, dict) else 0
    return float(sum(shown.values()) if isinstance(shown, dict) else shown)
