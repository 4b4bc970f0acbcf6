"""Queries/s and recall of every engine and strategy, and how the cost grows with the number of posts.

By default it generates posts: clustered, 16 vectors per post on average, 32 dimensions, 33,771 posts like the smaller
collection of the thesis, whose exact MaxSim ran at 63 queries/s there and approximate at 87. With `MATHAMR_INDEX=DIR` it
measures the vectors of a built index as well. `MATHAMR_POSTS=10000` makes all of it smaller. Run it with
`OPENBLAS_NUM_THREADS=1`: waiting BLAS threads spin, which would count as work of the peer.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mathamr.core.arrays import FloatArray, IntArray
from mathamr.index.engines.engine import Engine, Entry, Field, Payload, create_engine, open_engine
from mathamr.index.engines.flat.engine import FlatEngine
from mathamr.index.engines.maxsim import maxsim
from mathamr.posts.level import Level
from mathamr.systems.vectors import Vectors

POSTS, VECTORS, SIZE, QUERIES = 33_771, 16, 32, 10
LARGEST = 300_000
DEPTH = 1000
REPEATS = 5
PATIENCE = 8.0
"""Processor seconds after which no further round is started."""


@dataclass(frozen=True)
class Corpus:
    """Vectors ordered by post, and queries."""

    ids: list[str]
    vectors: FloatArray
    starts: IntArray
    documents: FloatArray
    queries: list[FloatArray]
    """The queries; the first row of each is its document's."""

    @property
    def entries(self) -> list[Entry]:
        ends = np.append(self.starts[1:], len(self.vectors))
        return [
            self._entry(name, self.documents[row], self.vectors[self.starts[row] : ends[row]])
            for row, name in enumerate(self.ids)
        ]

    def _entry(self, name: str, document: FloatArray, rows: FloatArray) -> Entry:
        parts = Vectors(rows, np.zeros(len(rows), np.int8), tuple(map(str, range(len(rows)))))
        fields = {"document": Vectors.one(document, Level.DOCUMENT, name), "parts": parts}
        return Entry(name, fields, Payload(kind="answer"))

    @property
    def fields(self) -> tuple[Field, ...]:
        size = self.vectors.shape[1]
        return (
            Field(name="document", of="posts", size=size),
            Field(name="parts", of="posts", size=size, many=True),
        )


def unit(vectors: FloatArray) -> FloatArray:
    return (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)


def main_directions(vectors: FloatArray, size: int) -> tuple[FloatArray, float]:
    """Return the projection to fewer dimensions, and the share of squares that it keeps: the directions go through the origin, so that
    cosines change least."""
    some = vectors[:: max(1, len(vectors) // 20_000)]
    turned = np.linalg.svd(some, full_matrices=False)[2][:size].T
    return turned, float(np.square(some @ turned).sum() / len(some))


def made_up(posts: int, seed: int = 0) -> Corpus:
    """Generate posts of some hundred topics: each vector is a mixture of its post's topic, an aspect and noise."""
    draw = np.random.default_rng(seed)
    topics, aspects = unit(draw.standard_normal((400, SIZE))), unit(draw.standard_normal((2000, SIZE)))
    counts = 1 + draw.poisson(VECTORS - 1, posts)
    starts = np.cumsum(counts) - counts
    own = unit(topics[draw.integers(0, 400, posts)] + 0.5 * unit(draw.standard_normal((posts, SIZE))))
    rows = int(counts.sum())
    vectors = unit(
        np.repeat(own, counts, axis=0)
        + 0.8 * aspects[draw.integers(0, 2000, rows)]
        + 0.4 * unit(draw.standard_normal((rows, SIZE)))
    )
    documents = unit(np.add.reduceat(vectors, starts, axis=0))
    vectors[starts] = documents
    queries = []
    for post in draw.integers(0, posts, QUERIES):
        like = vectors[starts[post] : starts[post] + counts[post]]
        queries.append(unit(like + 0.5 * unit(draw.standard_normal(like.shape))))
    return Corpus([f"post {number}" for number in range(posts)], vectors, starts, documents, queries)


def of_index(folder: Path) -> Corpus:
    """Take the vectors of an index; queries are some of its own posts."""
    engine = open_engine(folder / "vectors", read_only=True)
    ids = sorted(engine.ids("posts"))
    document = {name: rows.vectors[0] for name, rows in engine["document"].fetch(ids).items()}
    fetched = {name: rows.vectors for name, rows in engine["parts"].fetch(ids).items()}
    payloads = engine.payloads("posts", ids)
    counts = np.array([len(fetched[name]) for name in ids])
    starts = np.cumsum(counts) - counts
    vectors = np.concatenate([fetched[name] for name in ids])
    questions = [name for name in ids if payloads[name].kind == "question"] or ids
    chosen = questions[:: max(1, len(questions) // QUERIES)][:QUERIES]
    engine.close()
    # The first row of a question is its document's.
    queries = [np.concatenate([document[name][None], fetched[name]]) for name in chosen]
    return Corpus(ids, vectors, starts, np.stack([document[name] for name in ids]), queries)


def plain_blocks(corpus: Corpus, query: FloatArray) -> FloatArray:
    """Return the peer: a block loop of a few lines that needs only numpy; BLAS keeps each block on one thread."""
    rows = (1 << 18) // query.size
    scores = np.empty(len(corpus.starts), np.float32)
    ends = np.append(corpus.starts[1:], len(corpus.vectors))
    post = 0
    while post < len(scores):
        first = corpus.starts[post]
        last = max(post + 1, int(np.searchsorted(ends, first + rows, side="right")))
        products = query @ corpus.vectors[first : ends[last - 1]].T
        scores[post:last] = np.maximum.reduceat(products, corpus.starts[post:last] - first, axis=1).mean(
            axis=0
        )
        post = last
    return scores


def per_second(work: Callable[[FloatArray], Any], queries: Sequence[FloatArray]) -> float:
    """Return queries per second of one core: processor time of all threads, and for each query the fastest of some rounds.

    Other programs on the machine hardly change it; more cores answer more queries at a time.
    """
    work(queries[0])
    quickest = np.full(len(queries), np.inf)
    begun = time.process_time()
    for _ in range(REPEATS):
        if time.process_time() - begun > PATIENCE:
            break
        for number, query in enumerate(queries):
            started = time.process_time()
            work(query)
            quickest[number] = min(quickest[number], time.process_time() - started)
    return float(len(queries) / quickest.sum())


def recall(found: list[list[str]], wanted: list[list[str]], depth: int) -> float:
    """Return the share of the exact MaxSim ranking's first results that was found among as many."""
    shares = [
        len(set(some[:depth]) & set(all_[:depth])) / min(depth, len(all_))
        for some, all_ in zip(found, wanted, strict=True)
    ]
    return float(np.mean(shares))


def strategies(engine: Engine) -> dict[str, Callable[[FloatArray], list[str]]]:
    """Return the strategies of the thesis (3.5.2) over an engine's calls."""
    document, parts = engine["document"], engine["parts"]

    def single(query: FloatArray, exact: bool = True) -> list[str]:
        return [hit.id for hit in document.search(query[0], DEPTH, exact=exact)]

    def rerank(query: FloatArray, pool: int, exact: bool = True) -> list[str]:
        found = [hit.id for hit in document.search(query[0], pool, exact=exact)]
        return [hit.id for hit in parts.score(query, found)[:DEPTH]]

    def by_node(query: FloatArray) -> list[str]:
        pool = {hit.id for row in query for hit in parts.search(row, 128, exact=False)}
        return [hit.id for hit in parts.score(query, sorted(pool))[:DEPTH]]

    table: dict[str, Callable[[FloatArray], list[str]]] = {
        "single": single,
        "rerank 1000": lambda query: rerank(query, 1000),
        "rerank 5000": lambda query: rerank(query, 5000),
        "maxsim": lambda query: [hit.id for hit in parts.search_maxsim(query, DEPTH)],
        "maxsim, 10 results": lambda query: [hit.id for hit in parts.search_maxsim(query, 10)],
    }
    if engine.capabilities.approximate:
        table |= {
            "single, approximate": lambda query: single(query, False),
            "rerank 1000, approximate": lambda query: rerank(query, 1000, False),
            "rerank 5000, approximate": lambda query: rerank(query, 5000, False),
            "maxsim, 128 a query vector": by_node,
        }
    return table


def filled(folder: Path, corpus: Corpus, name: str, options: dict[str, Any]) -> tuple[Engine, float, float]:
    """Create an engine with the corpus; return it with the processor seconds of writing and preparing."""
    engine = create_engine(folder, corpus.fields, name, options)
    started = time.process_time()
    entries = corpus.entries
    for start in range(0, len(entries), 10_000):
        engine.upsert("posts", entries[start : start + 10_000])
        engine.flush()
    written = time.process_time()
    engine.optimize()
    return engine, written - started, time.process_time() - written


def table_of(corpus: Corpus, variants: dict[str, tuple[str, dict[str, Any]]], folder: Path) -> None:
    """Print every strategy of every engine beside the plain blocks."""
    ids = np.array(corpus.ids)
    wanted = []
    for query in corpus.queries:
        scores = np.round(maxsim(query, corpus.vectors, corpus.starts), 6)
        wanted.append(ids[np.lexsort((ids, -scores))[:DEPTH]].tolist())
    rows = sum(map(len, corpus.queries)) / len(corpus.queries)
    print(
        f"{len(ids):,} posts, {len(corpus.vectors):,} vectors of {corpus.vectors.shape[1]} dimensions; "
        f"{len(corpus.queries)} queries of {rows:.1f} vectors on average"
    )
    print("engine         strategy                    queries/s  ×plain   R@10  R@100 R@1000")
    plain = per_second(lambda query: plain_blocks(corpus, query), corpus.queries)
    print(
        f"{'numpy':14s} {'maxsim, plain blocks':26s} {plain:10.1f} {1:7.2f}  1.000  1.000  1.000", flush=True
    )
    for name, (engine_name, options) in variants.items():
        engine, writing, preparing = filled(folder / name, corpus, engine_name, options)
        size = sum(path.stat().st_blocks * 512 for path in (folder / name).rglob("*") if path.is_file())
        for strategy, work in strategies(engine).items():
            speed = per_second(work, corpus.queries)
            found = [work(query) for query in corpus.queries]
            recalls = (f"{recall(found, wanted, depth):6.3f}" for depth in (10, 100, 1000))
            print(
                f"{name:14s} {strategy:26s} {speed:10.1f} {speed / plain:7.2f} {' '.join(recalls)}",
                flush=True,
            )
        print(
            f"{name:14s} written in {writing:.1f} s and prepared in {preparing:.1f} s of a core, {size >> 20:,} MB",
            flush=True,
        )
        engine.close()
        shutil.rmtree(folder / name)


def growth(largest: int, folder: Path) -> None:
    """Print how the cost of exact MaxSim grows with the number of posts."""
    print("\nexact MaxSim of the first 1000, queries/s, as the collection grows")
    print("    posts     vectors  plain blocks  flat float32  flat int8    MB  write CPU s  opened in ms")
    for size in (3_000, 10_000, 33_771, 100_000, 300_000):
        if size > largest:
            break
        corpus = made_up(size, seed=1)
        speeds = [per_second(lambda query: plain_blocks(corpus, query), corpus.queries)]  # noqa: B023
        engine, writing, preparing = filled(folder / "flat", corpus, "flat", {"first_pass": "int8"})
        engine.close()
        started = time.perf_counter()
        reader = FlatEngine.open(folder / "flat", read_only=True)
        opening = time.perf_counter() - started
        ((segment, _),) = reader.stores["posts"].view().parts()
        rows = segment.fields["parts"]
        for first_pass in ("none", "int8"):
            speeds.append(
                per_second(lambda query: rows.search_maxsim(query, DEPTH, None, first_pass), corpus.queries)  # noqa: B023
            )
        megabytes = sum(path.stat().st_size for path in (folder / "flat").iterdir()) >> 20
        shutil.rmtree(folder / "flat")
        print(
            f"{size:9,d} {len(corpus.vectors):11,d} {speeds[0]:13.1f} {speeds[1]:13.1f} {speeds[2]:10.1f} "
            f"{megabytes:5d} {writing + preparing:12.1f} {1000 * opening:13.1f}",
            flush=True,
        )


def run() -> None:
    posts = int(os.environ.get("MATHAMR_POSTS", POSTS))
    folder = Path(tempfile.mkdtemp(prefix="engines-"))
    main = {
        "flat float32": ("flat", {"first_pass": "none"}),
        "flat int8": ("flat", {"first_pass": "int8"}),
        "edge": ("edge", {}),
    }
    try:
        table_of(made_up(posts), main, folder)
        print("\nGraphs over all vectors, and the client's local engine, at sizes that they can bear")
        table_of(made_up(min(posts, 2000)), {"edge, all": ("edge", {"hnsw": "all"})}, folder)
        table_of(made_up(min(posts, 300)), {"qdrant, local": ("qdrant", {"url": "local"})}, folder)
        if index := os.environ.get("MATHAMR_INDEX"):
            print("\nThe vectors of an index")
            table_of(of_index(Path(index)), main, folder)
        else:
            print(
                "\nno index was named (MATHAMR_INDEX=DIR): only made-up vectors were measured",
                file=sys.stderr,
            )
        growth(min(LARGEST, posts * 10), folder)
    finally:
        shutil.rmtree(folder)
