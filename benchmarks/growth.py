"""A million entries for words and for one vector: seconds and bytes to write, memory and seconds to search, and how they grow.

`MATHAMR_BENCH_POSTS` (1,000,000) synthetic entries from posts of arqmath-mini: an entry joins the terms of a real post's text with those of
another's formulas, so that words keep their frequencies and entries differ. `MATHAMR_BENCH_SIZES` splits the growth into steps (3).
"""

from __future__ import annotations

import os
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from mathamr.core.batches import batches
from mathamr.index.engines.engine import create_engine
from mathamr.index.engines.entry import Entry
from mathamr.index.lexical.bags import Bag, PostBags
from mathamr.index.lexical.lexicalindex import POSTS as WEIGHTING
from mathamr.index.lexical.lexicalindex import LexicalPart
from mathamr.index.lexical.terms import post_terms
from mathamr.index.storage import size_on_disk
from mathamr.posts.level import Level
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.systems.field import Field
from mathamr.systems.vectors import Vectors
from mathamr_lab.data import data_folder

POSTS = int(os.environ.get("MATHAMR_BENCH_POSTS", "1000000"))
STEPS = int(os.environ.get("MATHAMR_BENCH_SIZES", "3"))
SOURCES = 400
SIZE, BATCH, QUERIES, K = 192, 5_000, 20, 100


def run() -> None:
    posts = list(islice(read_posts(data_folder() / "arqmath-mini" / "Posts.xml", Report()), SOURCES))
    sizes = [POSTS // 4 ** (STEPS - 1 - step) for step in range(STEPS)]
    with tempfile.TemporaryDirectory(prefix="mathamr-growth-") as name:
        _words(Path(name, "words"), posts, sizes)
        _vectors(Path(name, "vectors"), sizes)


def _words(folder: Path, posts: list[Post], sizes: list[int]) -> None:
    bags = [PostBags.of(post) for post in posts]
    queries = [post_terms(Post("q", "question", post.title, markup="text")) for post in posts[:QUERIES]]
    part, done, spent = LexicalPart(folder, WEIGHTING, batch=BATCH), 0, 0.0
    for size in sizes:
        for batch in batches(_entries(bags, done, size), BATCH):
            started = time.process_time()
            part.update_bags(batch, new={entry for entry, _ in batch})
            spent += time.process_time() - started
        done = size
        part.optimize()
        seconds = _median(lambda query: part.search(query, K), queries)
        _say("words", size, spent, size_on_disk(folder), seconds)
    part.close()


def _entries(bags: list[PostBags], start: int, end: int) -> Iterator[tuple[str, Bag]]:
    for number in range(start, end):
        draw = random.Random(number)
        yield f"post-{number}", PostBags(draw.choice(bags).text, draw.choice(bags).formulas).joined()


def _vectors(folder: Path, sizes: list[int]) -> None:
    field = Field(name="document", of="posts", size=SIZE)
    engine, done, spent = create_engine(folder, (field,), "flat"), 0, 0.0
    queries = [_unit(number) for number in range(QUERIES)]
    for size in sizes:
        for start in range(done, size, BATCH):
            entries = [
                Entry(
                    f"post-{number}",
                    {"document": Vectors.one(_unit(number), Level.DOCUMENT, f"post-{number}")},
                )
                for number in range(start, min(start + BATCH, size))
            ]
            started = time.process_time()
            engine.upsert("posts", entries)
            engine.flush()
            spent += time.process_time() - started
        done = size
        started = time.process_time()
        engine.optimize()
        spent += time.process_time() - started
        seconds = _median(lambda query: engine["document"].search(query, K), queries)
        _say("one vector", size, spent, size_on_disk(folder), seconds)
    engine.close()


def _unit(number: int) -> np.ndarray:
    vector = np.random.default_rng(number).standard_normal(SIZE).astype(np.float32)
    return vector / np.float32(np.linalg.norm(vector))


def _median(search, queries) -> float:  # type: ignore[no-untyped-def]
    seconds = []
    for query in (queries[0], *queries):
        started = time.process_time()
        search(query)
        seconds.append(time.process_time() - started)
    return float(np.median(seconds[1:]))


def _say(what: str, size: int, spent: float, disk: int, query: float) -> None:
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"  {what}, {size:,} entries: written at {size / spent:,.0f} a second of a processor, {disk / 2**20:,.0f} MiB"
        f" ({disk / size:,.0f} bytes each), a query {1000 * query:,.1f} ms of a processor, peak memory {memory:.2f} GiB",
        flush=True,
    )


if __name__ == "__main__":
    run()
