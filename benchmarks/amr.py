"""The built-in AMR parser: sentences per second and peak memory, against spaCy's analysis alone.

Reads the sentences of arqmath-mini's first posts; needs the evaluation data. On a machine with other work, compare
the sentences per processor second (and set OPENBLAS_NUM_THREADS=1, or waiting threads count as work).
"""

from __future__ import annotations

import os
import resource
import time
from itertools import islice

from benchmarks._revision import compared
from mathamr.amr.builtin import BuiltinParser
from mathamr.amr.workers import ParallelParser
from mathamr.posts.passage import passage
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr_lab.data import data_folder

POSTS, COMPARED_POSTS = 100, 300
JOB = """
from mathamr.amr.builtin import BuiltinParser
parser = BuiltinParser()
parser.parse(given[:64])
started = time.process_time()
parser.parse(given)
print(time.process_time() - started)
"""


def sentences(count: int = POSTS) -> list[str]:
    posts = islice(read_posts(data_folder() / "arqmath-mini", Report()), count)
    return [sentence.text for post in posts for sentence in passage(post).sentences]


def run() -> None:
    texts = sentences()
    words = sum(len(text.split()) for text in texts)
    print(
        f"{len(texts)} sentences of {POSTS} posts, {words / len(texts):.1f} words each; {os.cpu_count()} cores"
    )

    started = time.perf_counter()
    parser = BuiltinParser()
    parser.parse(["One sentence loads the models."])
    print(f"loading: {time.perf_counter() - started:.2f} s")

    started, used = time.perf_counter(), time.process_time()
    for _ in parser.analyser.analyse(texts):
        pass
    analysis, analysis_used = time.perf_counter() - started, time.process_time() - used
    started, used = time.perf_counter(), time.process_time()
    graphs = parser.parse(texts)
    whole, whole_used = time.perf_counter() - started, time.process_time() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    count = len(texts)
    print(
        f"spaCy's analysis alone: {count / analysis:.0f} sentences/s, {count / analysis_used:.0f} per processor second"
    )
    print(
        f"the parser in this process: {count / whole:.0f} sentences/s, {count / whole_used:.0f} per processor second, "
        f"{whole_used / analysis_used:.2f} times the analysis; "
        f"peak memory {peak:.0f} MB; {sum(map(len, graphs)) / len(graphs):.1f} nodes a graph"
    )
    times = {workers: parallel_time(texts, workers) for workers in (1, 2)}
    for workers, spent in times.items():
        ratio = times[1] / spent
        print(
            f"{workers} worker(s) of one thread: {len(texts) / spent:.0f} sentences/s, {ratio:.2f} times one"
        )

    compare()


def compare() -> None:
    """Compares the parser with that of the old revision, over the same sentences."""
    texts = sentences(COMPARED_POSTS)
    now, then = compared(JOB, texts, rounds=1)
    print(
        f"{len(texts)} sentences of {COMPARED_POSTS} posts: {len(texts) / now:.0f} per processor second",
        end="",
    )
    print(f", before {len(texts) / then:.0f}: {then / now:.2f} times as fast")


def parallel_time(texts: list[str], workers: int) -> float:
    with ParallelParser("builtin", workers=workers) as parser:
        parser.parse(texts[:64])
        started = time.perf_counter()
        parser.parse(texts)
        return time.perf_counter() - started
