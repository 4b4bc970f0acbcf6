"""The built-in AMR parser: what it adds to the text encoder's reading of the same posts, against the linear parser before it, and memory.

Reads arqmath-mini's first posts; needs the evaluation data. On a machine with other work, compare the times of the processor
(and set OPENBLAS_NUM_THREADS=1, or waiting threads count as work).
"""

from __future__ import annotations

import os
import resource
import time
from itertools import islice
from typing import Any

from benchmarks._revision import measured, old_sources
from mathamr.amr.builtin import BuiltinParser
from mathamr.amr.builtin.model import WEIGHTS, ParserModel
from mathamr.amr.workers import ParallelParser
from mathamr.posts.passage import Passage, passage
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.text.folder import load_onnx_encoder
from mathamr.text.onnxencoder import OnnxTextEncoder
from mathamr_lab.data import data_folder

POSTS, ROUNDS = 100, 3
BEFORE = os.environ.get("MATHAMR_BENCH_REVISION", "b277ffa1")
"""By default the last commit with the linear parser, which read words by its own tagger and dependency parser."""
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
    made = [passage(post) for post in read]
    reading: list[float] = []
    parsing: list[float] = []
    before: list[float] = []
    with old_sources(BEFORE) as old:
        for _ in range(ROUNDS):
            clock = _Clock(encoder)
            used = time.process_time()
            nodes = sum(_nodes(parser, *each) for each in zip(read, made, strict=True))
            parsing.append(time.process_time() - used - clock.spent)
            reading.append(clock.stop())
            before.append(measured(old, JOB, texts))
    read_ms, graph_ms, then_ms = (1000 * min(times) / count for times in (reading, parsing, before))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"processor time a sentence, least of {ROUNDS} rounds: the text encoder reads it in {read_ms:.2f} ms, a graph from its"
        f" states takes {graph_ms:.2f} ms ({graph_ms / read_ms:.2f} of the encoder), the parser of {BEFORE} {then_ms:.2f} ms"
        f" (now {graph_ms / then_ms:.2f} of it); {nodes / count:.1f} nodes a graph; peak memory {peak:.0f} MB"
    )
    times = {workers: parallel_time(texts, workers) for workers in (1, 2)}
    for workers, spent in times.items():
        ratio = times[1] / spent
        print(
            f"{workers} worker(s) of one thread: {len(texts) / spent:.0f} sentences/s, {ratio:.2f} times one"
        )


class _Clock:
    """Adds up the processor time that the text encoder takes inside the parser."""

    def __init__(self, encoder: OnnxTextEncoder) -> None:
        self.spent, self._encoder, self._read = 0.0, encoder, encoder.mixed_states
        encoder.mixed_states = self._timed  # type: ignore[method-assign]

    def _timed(self, *given: Any, **more: Any) -> Any:
        started = time.process_time()
        try:
            return self._read(*given, **more)
        finally:
            self.spent += time.process_time() - started

    def stop(self) -> float:
        self._encoder.mixed_states = self._read  # type: ignore[method-assign]
        self._encoder.kept()  # nobody asks for vectors here
        return self.spent


def _nodes(parser: BuiltinParser, post: Post, made: Passage) -> int:
    """Make the graphs of a post as an index does; return the number of their nodes."""
    latex = {formula.id: formula.latex for formula in post.formulas}
    named = {place.name: latex.get(place.formula, "") for place in made.placeholders}
    return sum(map(len, parser.parse_text([sentence.text for sentence in made.sentences], named)))


def parallel_time(texts: list[str], workers: int) -> float:
    with ParallelParser("builtin", workers=workers) as parser:
        parser.parse(texts[:64])
        started = time.perf_counter()
        parser.parse(texts)
        return time.perf_counter() - started
