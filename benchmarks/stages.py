"""One stage or two: recall against speed of exact MaxSim and of first stages that find candidates for it, as posts grow.

Posts are synthetic: each is a real one whose vectors were projected to `MATHAMR_SIZE` (32) numbers and
perturbed, together and each separately. The real ones are those of an index (`MATHAMR_INDEX=DIR`); without one all are
generated (see `engines`). `MATHAMR_POSTS=33771,300000,1370000` sets the sizes, `MATHAMR_ENGINES=flat,edge,postgres,memory` the engines (`memory`:
the rows of `flat` without its files, for sizes whose files take long to write), `MATHAMR_OPTIONS=links=8,construction=24` further
options of the engines, `MATHAMR_REPORT=FILE` the file to which every figure is written as JSON as soon as it is measured.
A Postgres server is started here unless `MATHAMR_POSTGRES_URL` names one. With no engine (`MATHAMR_ENGINES=`) the settings of encodings are
compared instead, on the real posts. Queries are real posts, perturbed likewise. Queries/s are of one
core's processor time; for Postgres, which works in another process, wall-clock time with one client. Memory is the growth
of the process, including pages of mapped files; that of Postgres is not measured.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import psutil

from benchmarks.engines import (
    Corpus,
    made_up,
    main_directions,
    of_index,
    per_second,
    plain_blocks,
    recall,
    unit,
)
from mathamr.core.arrays import FloatArray, IntArray
from mathamr.core.settings import POSTGRES_URL
from mathamr.core.storage.raggedarrays import RaggedArray
from mathamr.core.workers import processors
from mathamr.index.engines.engine import Engine, Entry, create_engine, open_engine
from mathamr.index.engines.firststage import FirstStage
from mathamr.index.engines.fixedencoding import FixedEncoding
from mathamr.index.engines.flat.fieldrows import ManyRows, scanned
from mathamr.index.engines.flat.nearest import best
from mathamr.index.engines.flat.quantised import Quantised
from tests.postgres import PostgresServer, missing

SIZES = (33_771, 300_000)
QUERIES = 20
DEPTH = 1000
POOLS = (1000, 5000, 20_000)
"""The numbers of candidates; the largest only for many posts."""
ENCODINGS = {"fde, one cell": (0, 1), "fde, 4 cells × 2": (2, 2)}
"""Pairs of planes and repetitions."""
SETTINGS = (
    (0, 1, 1),
    (1, 1, 1),
    (1, 2, 1),
    (2, 1, 1),
    (2, 2, 1),
    (2, 4, 0.25),
    (3, 4, 0.0625),
    (4, 8, 0.03125),
)
"""Triples of planes, repetitions and the share of a vector's size that the projection keeps."""
PAYLOAD = 20_000
"""The number of entries that are written at a time."""
FLUSHED = 10
"""The number of writes between two flushes."""
OPTIONS = dict(each.split("=", 1) for each in os.environ.get("MATHAMR_OPTIONS", "").split(",") if each)
SIZE = int(os.environ.get("MATHAMR_SIZE", "32"))
LARGE = 100_000
"""From this many posts on, slow strategies get fewer queries."""
CLIENTS = 4
SERVER = (
    "shared_buffers=2GB",
    "max_wal_size=4GB",
    "max_parallel_maintenance_workers=8",
    "jit=off",
)


def turned(real: Corpus, size: int) -> Corpus:
    """Returns the same posts with fewer numbers per vector."""
    if real.vectors.shape[1] <= size:
        return real
    directions, kept = main_directions(real.vectors, size)
    print(f"{real.vectors.shape[1]} numbers a vector brought to {size}: {kept:.0%} of their squares")
    return replace(
        real,
        vectors=unit(real.vectors @ directions),
        documents=unit(real.documents @ directions),
        queries=[unit(query @ directions) for query in real.queries],
    )


def resampled(real: Corpus, posts: int, seed: int = 0) -> Corpus:
    """Returns as many posts as wanted: real ones in turn, each perturbed together and its vectors separately."""
    draw = np.random.default_rng(seed)
    counts = np.diff(real.starts, append=len(real.vectors))
    chosen = np.arange(posts) % len(counts)
    own = counts[chosen]
    starts = np.cumsum(own) - own
    size = real.vectors.shape[1]
    vectors = np.empty((int(own.sum()), size), np.float32)
    documents = np.empty((posts, size), np.float32)
    for begin in range(0, posts, PAYLOAD):
        end = min(posts, begin + PAYLOAD)
        some, many = chosen[begin:end], own[begin:end]
        first = starts[begin]
        rows = np.repeat(real.starts[some] - (starts[begin:end] - first), many) + np.arange(many.sum())
        shift = 0.5 * unit(draw.standard_normal((end - begin, size)).astype(np.float32))
        noise = 0.3 * unit(draw.standard_normal((len(rows), size)).astype(np.float32))
        vectors[first : first + len(rows)] = unit(real.vectors[rows] + np.repeat(shift, many, axis=0) + noise)
        documents[begin:end] = unit(real.documents[some] + shift)
    queries = []
    for post in draw.choice(len(counts), QUERIES, replace=False).tolist():
        like = np.concatenate([real.documents[post][None], real.vectors[real.starts[post] :][: counts[post]]])
        shift = 0.5 * unit(draw.standard_normal(size).astype(np.float32))
        queries.append(unit(like + shift + 0.3 * unit(draw.standard_normal(like.shape).astype(np.float32))))
    return Corpus([f"post {number}" for number in range(posts)], vectors, starts, documents, queries)


def batches_of(corpus: Corpus, names: Collection[str]) -> Iterator[list[Entry]]:
    """Yields the entries with some of their fields, some at a time, so that not all are in memory as objects."""
    ends = np.append(corpus.starts[1:], len(corpus.vectors))
    for begin in range(0, len(corpus.ids), PAYLOAD):
        entries = (
            corpus._entry(
                corpus.ids[row], corpus.documents[row], corpus.vectors[corpus.starts[row] : ends[row]]
            )
            for row in range(begin, min(begin + PAYLOAD, len(corpus.ids)))
        )
        yield [
            Entry(entry.id, {name: entry.rows[name] for name in names}, entry.payload) for entry in entries
        ]


class Took(NamedTuple):
    """Wall-clock seconds, and processor seconds of this process."""

    clock: float
    processor: float

    @classmethod
    def since(cls, begun: Took) -> Took:
        now = cls.now()
        return cls(now.clock - begun.clock, now.processor - begun.processor)

    @classmethod
    def now(cls) -> Took:
        return cls(time.perf_counter(), time.process_time())

    def __str__(self) -> str:
        return f"{self.clock:.0f} s ({self.processor:.0f} s of a core)"


def filled(folder: Path, corpus: Corpus, name: str, options: dict[str, Any]) -> tuple[Engine, Took, Took]:
    """Creates an engine with the corpus; returns it with the times of writing and preparing."""
    fields = corpus.fields
    if name == "postgres" and len(corpus.ids) >= LARGE:
        # Only what two stages need, which halves the time of a build.
        fields = tuple(field for field in fields if field.many)
    engine = create_engine(folder, fields, name, options)
    names = {field.name for field in fields}
    begun = Took.now()
    for number, entries in enumerate(batches_of(corpus, names), 1):
        engine.upsert("posts", entries)
        if number % FLUSHED == 0:
            engine.flush()
    engine.flush()
    written, begun = Took.since(begun), Took.now()
    engine.optimize()
    return engine, written, Took.since(begun)


def wanted_of(corpus: Corpus) -> list[list[str]]:
    """Returns the exact ranking, by the plain loop."""
    ids, wanted = np.array(corpus.ids), []
    for query in corpus.queries:
        scores = np.round(plain_blocks(corpus, query), 6)
        likely = np.argpartition(-scores, min(2 * DEPTH, len(ids) - 1))[: 2 * DEPTH]
        wanted.append(ids[likely[np.lexsort((ids[likely], -scores[likely]))[:DEPTH]]].tolist())
    return wanted


def by_clock(work: Callable[[FloatArray], Any], queries: list[FloatArray]) -> float:
    """Returns queries per wall-clock second, for each query the faster of two rounds."""
    work(queries[0])
    quickest = np.full(len(queries), np.inf)
    for _ in range(2):
        for number, query in enumerate(queries):
            started = time.perf_counter()
            work(query)
            quickest[number] = min(quickest[number], time.perf_counter() - started)
    return float(len(queries) / quickest.sum())


def together(work: Callable[[FloatArray], Any], queries: list[FloatArray]) -> float:
    """Returns queries per wall-clock second of several threads together."""
    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(work, queries))
        started = time.perf_counter()
        list(pool.map(work, queries * 2))
    return 2 * len(queries) / (time.perf_counter() - started)


Strategy = Callable[[FloatArray], list[str]]


def two_stages(engine: Engine, pool: int, *, exact: bool) -> Strategy:
    """Finds candidates by the document vector and reranks them."""

    def search(query: FloatArray) -> list[str]:
        found = [hit.id for hit in engine["document"].search(query[0], pool, exact=exact)]
        return [hit.id for hit in engine["parts"].score(query, found)[:DEPTH]]

    return search


def maxsim_of(engine: Engine, k: int, *, exact: bool) -> Strategy:
    """Ranks by MaxSim, over all posts or over the candidates of the engine's first stage."""
    return lambda query: [hit.id for hit in engine["parts"].search_maxsim(query, k, exact=exact)]


def encodings(real: Corpus) -> None:
    """Prints how many of the ten best by MaxSim the settings of an encoding find, among the real posts."""
    counts = np.diff(real.starts, append=len(real.vectors))
    chosen = np.arange(0, len(counts), max(1, len(counts) // QUERIES))[:QUERIES]
    queries = [real.vectors[real.starts[post] :][: counts[post]] for post in chosen]
    others = np.setdiff1d(np.arange(len(counts)), chosen)
    wanted = [others[np.argsort(-plain_blocks(real, query)[others])[:10]] for query in queries]
    size = real.vectors.shape[1]
    print(
        f"\nencodings of {len(counts):,} posts: {size} numbers a vector; of the 10 best by MaxSim are among the first"
    )
    print("planes repetitions projected  numbers  µs a post     10    100   1000")
    for planes, repetitions, share in SETTINGS:
        encoding = FixedEncoding(size, planes, repetitions, max(1, int(size * share)))
        begun = time.process_time()
        made = encoding.entries(real.vectors, real.starts)
        each = 1e6 * (time.process_time() - begun) / len(counts)
        found = [others[np.argsort(-(made[others] @ encoding.query(query)))] for query in queries]
        shares = [
            np.mean([len(np.intersect1d(a[:pool], b)) / 10 for a, b in zip(found, wanted, strict=True)])
            for pool in (10, 100, 1000)
        ]
        print(
            f"{planes:6d} {repetitions:11d} {encoding.width:9d} {encoding.length:8d} {each:10.0f} "
            + " ".join(f"{share:6.3f}" for share in shares),
            flush=True,
        )


class Table:
    """Prints rows, and collects them for a file."""

    def __init__(self, corpus: Corpus, wanted: list[list[str]], speed: Callable[..., float]) -> None:
        self._corpus, self._wanted, self._speed = corpus, wanted, speed
        self.rows: list[dict[str, Any]] = []

    def add(
        self, engine: str, name: str, search: Strategy, queries: int = QUERIES, *, once: bool = False
    ) -> None:
        """Measures speed and recall of a strategy; slow ones are run `once`."""
        chosen = self._corpus.queries[:queries]
        if once:
            clock = time.perf_counter if self._speed is by_clock else time.process_time
            started = clock()
            found = [search(query) for query in chosen]
            speed = len(chosen) / (clock() - started)
        else:
            speed = self._speed(search, chosen)
            found = [search(query) for query in chosen]
        most = max(map(len, found))
        recalls = [recall(found, self._wanted[:queries], depth) for depth in (10, 100, 1000) if depth <= most]
        self.rows.append({"engine": engine, "stages": name, "per second": speed, "recall": recalls})
        print(
            f"{engine:9s} {name:34s} {speed:9.1f} {' '.join(f'{each:6.3f}' for each in recalls)}", flush=True
        )


def measure(corpus: Corpus, name: str, folder: Path, report: dict[str, Any]) -> None:
    """Measures every stage of one engine."""
    wanted, speed = wanted_of(corpus), by_clock if name == "postgres" else per_second
    table = Table(corpus, wanted, speed)
    print("engine    stages                             queries/s   R@10  R@100 R@1000", flush=True)
    large, before = len(corpus.ids) >= LARGE, _resident()
    slow = large and name != "flat"
    if name == "flat":
        table.add("numpy", "exact, plain blocks", lambda q: _plain(corpus, q), 3 if large else QUERIES)
    for number, (title, (planes, repetitions)) in enumerate(ENCODINGS.items()):
        if number and (large or name != "flat"):
            break
        for pool in POOLS if large and not number else POOLS[:2]:
            options = {
                "first": "fde",
                "planes": planes,
                "repetitions": repetitions,
                "pool": pool,
                "oversampling": 1,
            }
            if name == "postgres":
                options |= {"memory": 1024, "workers": max(1, processors() - 1)}
            options |= OPTIONS
            if pool == POOLS[0]:
                engine, writing, preparing = filled(folder / name, corpus, name, options)
                disk, graphs = _disk(engine, folder / name)
                print(
                    f"{name}, {title}: written in {writing}, prepared in {preparing}, {disk >> 20:,} MB"
                    f"{f', {graphs >> 20:,} MB of them graphs' if graphs else ''}; load of the machine"
                    f" {os.getloadavg()[1]:.1f}",
                    flush=True,
                )
                table.rows.append(
                    {
                        "engine": name,
                        "stages": title,
                        "written": writing,
                        "prepared": preparing,
                        "bytes": disk,
                        "graphs": graphs,
                    }
                )
            else:
                engine = _reopened(engine, folder / name, pool)
            if not number and pool == POOLS[0]:
                table.add(
                    name, "exact", maxsim_of(engine, DEPTH, exact=True), 2 if slow else QUERIES, once=slow
                )
                if not slow:
                    table.add(name, "exact, 10 results", maxsim_of(engine, 10, exact=True))
            if not number and "document" in {field.name for field in engine.fields}:
                table.add(name, f"document, {pool:,}", two_stages(engine, pool, exact=False), once=slow)
            table.add(name, f"{title}, {pool:,}", maxsim_of(engine, DEPTH, exact=False), once=slow)
            search = maxsim_of(engine, 10, exact=False)
            table.add(name, f"{title}, {pool:,}, 10 results", search, once=slow)
            if pool == POOLS[0] and name == "postgres":
                at_once = together(search, corpus.queries)
                print(
                    f"{name:9s} the same, {CLIENTS} threads of a client at once {at_once:16.1f}", flush=True
                )
                table.rows.append(
                    {"engine": name, "stages": title, "clients": CLIENTS, "per second": at_once}
                )
            report[f"{name} {len(corpus.ids)}"] = table.rows
            _keep(report)
        if name != "postgres":
            taken = max(0, _resident() - before)
            print(f"{name}, {title}: {taken >> 20:,} MB of memory after all searches", flush=True)
            table.rows.append({"engine": name, "stages": title, "memory": taken})
            _keep(report)
        engine.destroy()
        shutil.rmtree(folder / name, ignore_errors=True)


def in_memory(corpus: Corpus, report: dict[str, Any]) -> None:
    """Measures stages of `flat` over rows that were never written, without the cost of disk and files."""
    counts = np.diff(corpus.starts, append=len(corpus.vectors))
    nothing = np.zeros(len(corpus.vectors), np.int64)
    rows = ManyRows.arrange(
        np.arange(len(counts)),
        corpus.vectors,
        counts,
        nothing.astype(np.int8),
        RaggedArray(np.zeros(0, np.uint8), nothing),
    )
    rows = replace(rows, quantised=Quantised.of(rows.slots))
    encoding = FirstStage(first="fde").encoding_of_rows(corpus.vectors.shape[1])
    assert encoding is not None
    begun = time.process_time()
    encoded = replace(rows, encodings=rows._encoded(encoding))
    made = time.process_time() - begun

    def named(found: tuple[IntArray, FloatArray]) -> list[str]:
        return [corpus.ids[row] for row in rows.entries[found[0][np.argsort(-found[1])]].tolist()]

    def exact(query: FloatArray, k: int = DEPTH) -> list[str]:
        return named(rows.search_maxsim(query, k, None, "auto"))[:k]

    def staged(query: FloatArray, pool: int, k: int) -> list[str]:
        return named(encoded.search_encoded(encoding.query(query), query, pool, k, None))[:k]

    def by_document(query: FloatArray, pool: int) -> list[str]:
        places = rows.places(best(scanned(corpus.documents, query[0]), pool))
        return named((places, rows.score(query, places)))[:DEPTH]

    table = Table(corpus, [exact(query) for query in corpus.queries], per_second)
    print(f"encodings made in {made:.1f} s of a core")
    print("engine    stages                             queries/s   R@10  R@100 R@1000", flush=True)
    table.add("memory", "exact", exact)
    table.add("memory", "exact, 10 results", lambda query: exact(query, 10))
    for pool in POOLS:
        table.add("memory", f"document, {pool:,}", lambda query: by_document(query, pool))  # noqa: B023
        table.add("memory", f"fde, one cell, {pool:,}", lambda query: staged(query, pool, DEPTH))  # noqa: B023
    table.add("memory", "fde, one cell, 1,000, 10 results", lambda query: staged(query, POOLS[0], 10))
    report[f"memory {len(counts)}"] = table.rows
    _keep(report)


def _plain(corpus: Corpus, query: FloatArray) -> list[str]:
    scores = plain_blocks(corpus, query)
    chosen = np.argpartition(-scores, DEPTH)[:DEPTH]
    return [corpus.ids[row] for row in chosen[np.argsort(-scores[chosen])].tolist()]


def _reopened(engine: Engine, folder: Path, pool: int) -> Engine:
    """Reopens the engine with another number of candidates, which is only in `engine.json`."""
    engine.close()
    path = folder / "engine.json"
    head = json.loads(path.read_text())
    head["options"]["pool"] = pool
    path.write_text(json.dumps(head))
    return open_engine(folder)


def _disk(engine: Engine, folder: Path) -> tuple[int, int]:
    """Returns the bytes on disk, and how many of them graphs take if a server reports that."""
    if engine.name != "postgres":
        return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file()), 0
    import psycopg

    with psycopg.connect(POSTGRES_URL.value) as connection:
        row = connection.execute(
            "SELECT pg_database_size(current_database()), coalesce((SELECT sum(pg_relation_size(c.oid))"
            " FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE a.amname = 'hnsw'), 0)"
        ).fetchone()
    assert row is not None
    return int(row[0]), int(row[1])


def _resident() -> int:
    """Returns the resident memory of the process in bytes."""
    return int(psutil.Process().memory_info().rss)


def _keep(report: dict[str, Any]) -> None:
    out = os.environ.get("MATHAMR_REPORT")
    if out:
        Path(out).write_text(json.dumps(report, indent=1))


def run() -> None:
    """Measures every engine at every size."""
    sizes = [int(size) for size in os.environ.get("MATHAMR_POSTS", "").split(",") if size] or list(SIZES)
    names = [name for name in os.environ.get("MATHAMR_ENGINES", "flat,edge,postgres").split(",") if name]
    index = os.environ.get("MATHAMR_INDEX")
    report: dict[str, Any] = {}
    real = of_index(Path(index)) if index else made_up(6_000)
    if not names:
        encodings(real)
    real = turned(real, SIZE)
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        if "postgres" in names and not os.environ.get("MATHAMR_POSTGRES_URL"):
            if reason := missing():
                print(f"without postgres: {reason}")
                names.remove("postgres")
            else:
                server = PostgresServer(*SERVER)
                stack.callback(server.stop)
                os.environ["MATHAMR_POSTGRES_URL"] = server.url
        for size in sizes if names else ():
            corpus = resampled(real, size)
            rows = sum(map(len, corpus.queries)) / len(corpus.queries)
            print(
                f"\n{size:,} posts, {len(corpus.vectors):,} vectors of {corpus.vectors.shape[1]} numbers;"
                f" {len(corpus.queries)} queries of {rows:.1f} vectors on average",
                flush=True,
            )
            for name in names:
                if name == "memory":
                    in_memory(corpus, report)
                else:
                    measure(corpus, name, Path(place), report)


if __name__ == "__main__":
    run()
