"""The built-in AMR parser: sentences per second and peak memory, and what it adds to the text encoder's reading of the same posts.

Reads arqmath-mini's first posts; needs the evaluation data. On a machine with other work, compare the times of the processor
(and set OPENBLAS_NUM_THREADS=1, or waiting threads count as work).
"""

from __future__ import annotations

import os
import resource
import time
from itertools import islice

from benchmarks._revision import compared
from mathamr.amr.builtin import BuiltinParser
from mathamr.amr.builtin.model import WEIGHTS, ParserModel
from mathamr.amr.workers import ParallelParser
from mathamr.posts.passage import passage
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.text.folder import load_onnx_encoder
from mathamr.text.wording import wording_alone
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


def posts(count: int = POSTS) -> list[Post]:
    return list(islice(read_posts(data_folder() / "arqmath-mini", Report()), count))


def sentences(count: int = POSTS) -> list[str]:
    return [sentence.text for post in posts(count) for sentence in passage(post).sentences]


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

    count = len(texts)
    encoder, read = load_onnx_encoder(ParserModel.load(WEIGHTS).encoder), posts()
    used = time.process_time()
    for _ in encoder.encode(wording_alone(post)[0] for post in read):
        pass
    vectors = time.process_time() - used
    graphs = nodes = 0
    used = time.process_time()
    for post in read:
        made = passage(post)
        latex = {formula.id: formula.latex for formula in post.formulas}
        named = {place.name: latex.get(place.formula, "") for place in made.placeholders}
        found = parser.parse_text([sentence.text for sentence in made.sentences], named)
        graphs, nodes = graphs + len(found), nodes + sum(map(len, found))
        list(encoder.encode([wording_alone(post, made)[0]]))
    both = time.process_time() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"vectors of the text alone: {1000 * vectors / count:.2f} ms of processor time a sentence; with graphs from the same"
        f" states: {1000 * both / count:.2f} ms, so a graph takes {1000 * (both - vectors) / count:.2f} ms more;"
        f" {nodes / graphs:.1f} nodes a graph; peak memory {peak:.0f} MB"
    )
    used = time.process_time()
    parser.parse(texts)
    print(
        f"the parser on sentences alone: {1000 * (time.process_time() - used) / count:.2f} ms of processor time a sentence"
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
