"""Posts to stored tensors: posts per second on one and two workers, peak memory as the corpus grows, projections.

The peer is the thesis: 2,482,294 posts in 22 days on four A100s (section 4.1).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

import psutil

from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr_lab.data import data_folder

THESIS_POSTS, THESIS_DAYS, THESIS_GPUS = 2_482_294, 22, 4
POSTS = int(os.environ.get("MATHAMR_BENCH_POSTS", "600"))


def run() -> None:
    posts_file = data_folder() / "arqmath-mini" / "Posts.xml"
    rates = {}
    for workers in (1, 2):
        seconds, peak = _build(posts_file, POSTS, workers)
        rates[workers] = POSTS / seconds
        print(
            f"  {workers} worker(s): {rates[workers]:.1f} posts/s, {POSTS} posts in {seconds:.1f} s, peak {peak:.0f} MB"
        )
    print(f"  two workers against one: {rates[2] / rates[1]:.2f} times as fast")
    for posts in (POSTS // 2, 2 * POSTS, 4 * POSTS):
        _, peak = _build(posts_file, posts, 2)
        print(f"  peak memory of two workers and their parent: {peak:.0f} MB for {posts} posts")
    thesis = THESIS_POSTS / (THESIS_DAYS * 86_400)
    print(
        f"  the thesis: {thesis:.2f} posts/s on {THESIS_GPUS} A100s; ours on 2 cores: {rates[2] / thesis:.1f} times that"
    )
    for cores in (2, 96):
        hours = THESIS_POSTS / (rates[2] / 2 * cores) / 3600
        print(
            f"  ARQMath's {THESIS_POSTS:,} posts on {cores} cores: {hours:.1f} hours (thesis: {24 * THESIS_DAYS} hours)"
        )
    _stages(posts_file, POSTS // 4)


def _build(posts_file: Path, posts: int, workers: int) -> tuple[float, float]:
    """Return seconds and peak memory (MB, including the workers) of `mathamr graph --out` in a process of its own."""
    folder = Path(tempfile.mkdtemp(prefix="mathamr-bench-"))
    command = [
        sys.executable,
        "-m",
        "mathamr",
        "graph",
        str(posts_file),
        "--out",
        str(folder),
        "--limit",
        str(posts),
    ]
    started = time.perf_counter()
    process = subprocess.Popen(
        [*command, "--workers", str(workers), "--json"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    peak = 0.0
    while process.poll() is None:
        try:
            family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
            peak = max(peak, sum(member.memory_info().rss for member in family) / 1e6)
        except psutil.NoSuchProcess:
            pass
        time.sleep(0.05)
    seconds = time.perf_counter() - started
    shutil.rmtree(folder)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return seconds, peak


def _stages(posts_file: Path, count: int) -> None:
    """Print the time of each stage on one core."""
    from mathamr.amr.document import parse_documents
    from mathamr.amr.parser import load_parser
    from mathamr.formulas.trees import trees_of
    from mathamr.graphs import notation
    from mathamr.graphs.unify import unify
    from mathamr.posts.passage import passage

    parser = load_parser()
    parser.parse(["Warm up."])
    seconds: dict[str, float] = {}
    clock = time.perf_counter()

    def lap(name: str) -> None:
        nonlocal clock
        seconds[name] = time.perf_counter() - clock
        clock = time.perf_counter()

    posts = list(islice(read_posts(posts_file, Report()), count))
    lap("read")
    passages = [passage(post) for post in posts]
    lap("passages")
    documents = list(parse_documents(parser, ([s.text for s in p.sentences] for p in passages)))
    lap("AMR")
    trees = []
    for post, read in zip(posts, passages, strict=True):
        formulas = {formula.id: formula for formula in post.formulas}
        trees.append({place.name: trees_of(formulas[place.formula])[0] for place in read.placeholders})
    lap("formulas")
    graphs = [
        unify(post.id, document, [s.text for s in read.sentences], read.formula_map, its_trees)
        for post, document, read, its_trees in zip(posts, documents, passages, trees, strict=True)
    ]
    lap("unify")
    texts = [notation.write(graph, one_line=True) for graph in graphs]
    lap("write")
    for text in texts:
        notation.read(text)
    lap("read back")
    total = sum(seconds.values())
    parts = ", ".join(f"{name} {value / total:.0%}" for name, value in seconds.items())
    print(f"  where the time goes ({count} posts, {total:.1f} s): {parts}")
