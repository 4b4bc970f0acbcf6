"""The built-in AMR parser: sentences per second and peak memory, against spaCy's analysis alone.

Reads the sentences of arqmath-mini's first posts; needs the evaluation data.
"""

from __future__ import annotations

import os
import resource
import time
from itertools import islice

from benchmarks._data import data_folder
from mathamr.amr.builtin import BuiltinParser
from mathamr.amr.workers import ParallelParser
from mathamr.posts.passage import passage
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report

POSTS = 500


def sentences() -> list[str]:
    posts = islice(read_posts(data_folder() / "arqmath-mini", Report()), POSTS)
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
    print(
        f"spaCy's analysis alone: {len(texts) / analysis:.0f} sentences/s ({len(texts) / analysis_used:.0f} a second of processor time)"
    )
    print(
        f"the parser, one core: {len(texts) / whole:.0f} sentences/s ({len(texts) / whole_used:.0f} a second of processor time), "
        f"{whole / analysis:.2f} times the analysis; peak memory {peak:.0f} MB; "
        f"{sum(map(len, graphs)) / len(graphs):.1f} nodes a graph"
    )

    with ParallelParser("builtin", workers=2) as two:
        two.parse(texts[:64])
        started = time.perf_counter()
        assert len(two.parse(texts)) == len(texts)
        parallel = time.perf_counter() - started
    print(f"two workers: {len(texts) / parallel:.0f} sentences/s, {whole / parallel:.2f} times one core")
