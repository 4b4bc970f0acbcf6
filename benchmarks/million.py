"""Exact MaxSim over as many posts as the larger collection of the thesis has, on all cores of the process.

`MATHAMR_POSTS` (1,370,000) synthetic posts of about 16 vectors of 32 dimensions. With vectors of an index
(`MATHAMR_INDEX=DIR`, or a file that `python -m benchmarks.million INDEX FILE` cut from one, in `MATHAMR_BENCH_VECTORS`) each post is
a real one, its vectors projected to 32 dimensions and perturbed, together and each separately.
Otherwise posts are mixtures of topics, aspects and noise. Queries are perturbed posts as well, questions if it is known which are.

Times are wall-clock times for the first 1,000 results of every query, one after the other: from memory, and with the files dropped from the page cache
before every query. Some are compared with a plain loop over everything. `taskset -c 0,1` gives two cores.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.engines import DEPTH, SIZE, made_up, main_directions, of_index, unit
from mathamr.core.arrays import FloatArray, IntArray
from mathamr.core.storage.mappedarrays import map_arrays, write_arrays
from mathamr.core.storage.raggedarrays import RaggedArray, Strings
from mathamr.index.engines.flat.fieldrows import ManyRows
from mathamr.index.engines.flat.quantised import Quantised
from mathamr.index.engines.flat.slots import Slots
from mathamr.index.engines.maxsim import maxsim

POSTS = int(os.environ.get("MATHAMR_POSTS", "1370000"))
QUERIES = 20
ROWS = {"questions": 16, "typed queries": 4}
"""The maximum number of vectors of a query: those of a question in the thesis, and of some typed words with a formula."""
FORGOTTEN = 4
"""The number of queries before which the files are dropped from the page cache: each reads all of them again."""
COMPARED = 3
"""The number of queries that are checked by the plain loop."""
AT_A_TIME = 50_000
TOGETHER, APART = 0.35, 0.35
"""The length of the noise that is added to all vectors of a post, and to each of them."""


@dataclass(frozen=True)
class Source:
    """Real posts to draw from: vectors ordered by post, and which may be queries."""

    vectors: FloatArray
    counts: IntArray
    asked: list[FloatArray]
    name: str

    @classmethod
    def of_index(cls, folder: Path) -> Source:
        corpus = of_index(folder)
        ends = np.append(corpus.starts[1:], len(corpus.vectors))
        turned, kept = main_directions(corpus.vectors, SIZE)
        name = f"posts of an index, {corpus.vectors.shape[1]} dimensions brought to {SIZE}, {kept:.0%} of their squares"
        vectors, counts = unit(corpus.vectors @ turned), ends - corpus.starts
        return cls(vectors, counts, [unit(query @ turned) for query in corpus.queries], name)

    @classmethod
    def made_up(cls) -> Source:
        corpus = made_up(30_000, seed=2)
        counts = np.diff(np.append(corpus.starts, len(corpus.vectors)))
        return cls(corpus.vectors, counts, corpus.queries, "posts made up of topics, aspects and chance")

    def save(self, path: Path) -> None:
        asked = np.concatenate(self.asked)
        np.savez_compressed(
            path, vectors=self.vectors.astype(np.float16), counts=self.counts, asked=asked.astype(np.float16),
            lengths=np.array([len(query) for query in self.asked]), name=np.array(self.name),
        )  # fmt: skip

    @classmethod
    def load(cls, path: Path) -> Source:
        read = np.load(path, allow_pickle=False)
        asked = np.split(unit(read["asked"].astype(np.float32)), np.cumsum(read["lengths"])[:-1])
        return cls(unit(read["vectors"].astype(np.float32)), read["counts"], asked, str(read["name"]))

    def moved(self, draw: np.random.Generator, chosen: IntArray) -> FloatArray:
        """Return the vectors of real posts with noise."""
        counts, starts = self.counts[chosen], (np.cumsum(self.counts) - self.counts)[chosen]
        rows = np.arange(counts.sum()) + np.repeat(starts - (np.cumsum(counts) - counts), counts)
        together = TOGETHER * unit(draw.standard_normal((len(chosen), SIZE), np.float32))
        apart = APART * unit(draw.standard_normal((len(rows), SIZE), np.float32))
        return unit(self.vectors[rows] + np.repeat(together, counts, axis=0) + apart)

    def queries(self, draw: np.random.Generator) -> Iterator[FloatArray]:
        for number in range(QUERIES):
            query = self.asked[number % len(self.asked)]
            yield unit(query + 0.2 * unit(draw.standard_normal(query.shape, np.float32)))


def source() -> Source:
    if path := os.environ.get("MATHAMR_BENCH_VECTORS"):
        return Source.load(Path(path))
    index = os.environ.get("MATHAMR_INDEX")
    return Source.of_index(Path(index)) if index else Source.made_up()


def write(real: Source, path: Path) -> None:
    """Write the file of a field with all posts, as an engine does."""
    draw = np.random.default_rng(7)
    chosen = draw.integers(0, len(real.counts), POSTS)
    counts = real.counts[chosen]
    vectors = np.empty((counts.sum(), SIZE), np.float32)
    begin = 0
    for start in range(0, POSTS, AT_A_TIME):
        moved = real.moved(draw, chosen[start : start + AT_A_TIME])
        vectors[begin : begin + len(moved)] = moved
        begin += len(moved)
    _, slots = Slots.arrange(vectors, counts)
    del vectors
    nothing = np.zeros(0, np.uint8)
    arrays = {"vectors": slots.vectors, "counts": slots.counts, "bounds": slots.bounds}
    write_arrays(path, arrays | Quantised.of(slots).arrays() | {"nothing": nothing})


def opened(path: Path) -> ManyRows:
    arrays = map_arrays(path)
    parts = (arrays[f"int8{name}"] for name in ("", ".scales", ".errors", ".longest"))
    slots = Slots(arrays["vectors"], arrays["counts"], arrays["bounds"])
    references = Strings(RaggedArray(arrays["nothing"], np.zeros(1, np.int64)))
    return ManyRows(np.arange(len(slots)), np.zeros(0, np.int8), references, slots, Quantised(*parts))


def forget(path: Path) -> None:
    """Asks the system to drop a file from its page cache."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def bandwidth() -> float:
    """Return the bytes per second that one core reads from memory."""
    large = np.ones(1 << 26, np.int64)
    shortest = float("inf")
    for _ in range(5):
        started = time.thread_time()
        large.sum()
        shortest = min(shortest, time.thread_time() - started)
    return large.nbytes / shortest


def exact(rows: ManyRows, query: FloatArray) -> FloatArray:
    """Return the MaxSim of all posts by a plain loop, without bounds or our code."""
    slots, found = rows.slots, []
    for start in range(0, len(slots), AT_A_TIME):
        posts = np.arange(start, min(len(slots), start + AT_A_TIME))
        counts = slots.counts[posts]
        found.append(maxsim(query, slots.gather(posts), np.cumsum(counts) - counts))
    return np.concatenate(found)


def asked(rows: ManyRows, queries: list[FloatArray]) -> tuple[FloatArray, float]:
    """Return the wall-clock seconds of each query, and the processor seconds of one."""
    walls, used = [], time.process_time()
    for query in queries:
        started = time.perf_counter()
        rows.search_maxsim(query, DEPTH, None, "int8")
        walls.append(time.perf_counter() - started)
    return np.array(walls), (time.process_time() - used) / len(queries)


def again(rows: ManyRows, query: FloatArray) -> int:
    """Return how many posts had to be scored exactly for the first 1,000."""
    assert rows.quantised is not None
    about, wrong = rows.quantised.scan(rows.slots, query)
    first = np.argpartition(about, -DEPTH)[-DEPTH:]
    return int((about + wrong >= rows.slots.score(query, first).min()).sum())


def measure(path: Path, real: Source, cores: int) -> None:
    whole = list(real.queries(np.random.default_rng(11)))
    rows = opened(path)
    assert rows.quantised is not None
    size = rows.quantised.numbers.nbytes
    print(f"   {real.name}: {len(rows):,} posts, {int(rows.counts.sum()):,} vectors, {cores} cores")
    reading = bandwidth()
    for kind, most in ROWS.items():
        queries = [query[:most] for query in whole]
        lengths = sum(map(len, queries)) / len(queries)
        asked(rows, queries[:1])
        walls, used = asked(rows, queries)
        print(
            f"   {kind} of {lengths:.1f} vectors from memory: {1 / walls.mean():.1f} queries/s by the clock (median {1e3 * np.median(walls):.0f} ms, "
            f"longest {1e3 * walls.max():.0f}), {1e3 * used:.0f} ms of a core each; int8 vectors at {size / walls.mean() / 1e9:.1f} GB/s, "
            f"{size / walls.mean() / cores / reading:.0%} of what {cores} cores read",
            flush=True,
        )
    queries = [query[: ROWS["questions"]] for query in whole]
    counted = [again(rows, query) for query in queries]
    print(
        f"   scored exactly for the first {DEPTH:,}: {np.mean(counted):,.0f} posts, {max(counted):,} at most"
    )
    walls = np.empty(0)
    for query in queries[:FORGOTTEN]:
        del rows
        forget(path)
        rows = opened(path)
        walls = np.append(walls, asked(rows, [query])[0])
    print(
        f"   from disk: {1 / walls.mean():.2f} queries/s by the clock, {size / walls.mean() / 1e9:.2f} GB/s",
        flush=True,
    )
    for query in queries[:COMPARED]:
        wanted = exact(rows, query)
        found, scores = rows.search_maxsim(query, DEPTH, None, "int8")
        least = np.partition(wanted, -DEPTH)[-DEPTH]
        missing = np.setdiff1d(np.flatnonzero(wanted > least + 1e-6), found)
        print(
            f"   plain loop: {len(missing)} missing, scores off by {np.abs(scores - wanted[found]).max():.1e} at most"
        )


def run() -> None:
    real = source()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with tempfile.TemporaryDirectory(prefix="million-") as folder:
        path = Path(folder) / "posts.safetensors"
        started = time.perf_counter()
        write(real, path)
        print(
            f"   written in {time.perf_counter() - started:.0f} s, {path.stat().st_size / 1e9:.1f} GB",
            flush=True,
        )
        measure(path, real, cores)


if __name__ == "__main__":
    Source.of_index(Path(sys.argv[1])).save(Path(sys.argv[2]))
