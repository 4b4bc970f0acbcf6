"""Measures the costs of building an index on this machine: seconds of workers and of the writing process, bytes, memory.

Some posts are indexed twice. The first time every request is answered in this process and timed; the second time the answers
come from a cache, so the remaining time is that of reading and writing, which more machines cannot shorten.
"""

from __future__ import annotations

import json
import os
import platform
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from mathamr.core.errors import MathAMRError
from mathamr.core.workers import Allowance, Lost, Pool, Work
from mathamr.index.admin.constants import BuildConstants, EncodingConstants
from mathamr.index.admin.inventory import size_on_disk
from mathamr.index.archive import Archive, recorded_model
from mathamr.index.indexing.builder import BuildOptions, BuildSummary, build_index, peak_memory
from mathamr.index.indexing.buildpool import FEW, BuildPool
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.systems.models import load_system
from mathamr.systems.system import Item
from mathamr.text.backend import ONNX, chosen_backend

POSTS = 160
"""Number of posts that are measured: enough that start-up matters little, few enough that nobody waits long."""
READ = 10_000
"""Number of posts that are read, since the tables of a dump are read with its first post."""


class MeasuringPool(BuildPool):
    """Does all work in this process, times it by kind of request, and caches the answers."""

    def __init__(self) -> None:
        super().__init__(1)
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._works: dict[str, Work] = {}
        self._answers: dict[str, Any] = {}

    @property
    def is_alone(self) -> bool:
        """False, so that the work of workers goes through this pool."""
        return False

    def workers_for(
        self,
        factory: str,
        arguments: Sequence[Any] = (),
        *,
        allowance: Allowance | None = None,
        made_with: str = "",
    ) -> Pool:
        """A pool that runs in this process and measures time."""
        if factory not in self._works:
            module, _, attribute = factory.partition(":")
            self._works[factory] = getattr(import_module(module), attribute)(*arguments)
        return _MeasuredPool(self, factory, self._works[factory])

    def taken_in(self, posts: Sequence[Post]) -> Iterator[list[str]]:
        """Computes the visual keys only: with a large collection, almost none of the other results of a parse fit into the cache."""
        return self.visual_keys(posts)

    def answer(self, factory: str, work: Work, request: list[Any]) -> Any:
        """The answer to a request, computed or from the cache."""
        key = json.dumps([factory, request])
        if key not in self._answers:
            what = f"{factory.rpartition(':')[2]} {request[0]}"
            if what not in self.seconds:
                work(request[:2])  # loads everything that the first post needs
            started = time.process_time()
            answer = work(request)
            self.seconds[what] += time.process_time() - started
            self._answers[key] = json.loads(json.dumps(answer))
        return self._answers[key]


class _MeasuredPool:
    def __init__(self, pool: MeasuringPool, factory: str, work: Work) -> None:
        self._pool, self._factory, self._work = pool, factory, work
        self.hello = work.hello

    def map(self, requests: Iterable[Any]) -> Iterator[tuple[Any, Any | Lost]]:
        for request in requests:
            yield request, self._pool.answer(self._factory, self._work, request)

    def close(self) -> None:
        """Does nothing: the work is used again for the second build."""


def measure(
    source: Path,
    *,
    model: str | None = None,
    engine: str | None = None,
    device: str = "cpu",
    parser: str | None = None,
    posts: int = POSTS,
) -> BuildConstants:
    """Measures the constants of this machine with some posts of an input."""
    many, reading = _read(source)
    chosen = many[: max(posts, FEW + 1)]
    if len(chosen) <= FEW:
        raise MathAMRError(f"{source} has {len(chosen)} posts; measuring takes more than {FEW}")
    letters = sum(len(post.title) + len(post.body) for post in chosen)
    with tempfile.TemporaryDirectory(prefix="mathamr-measure-") as name:
        folder = Path(name)
        path = folder / "posts.jsonl"
        path.write_text("".join(post.to_json() + "\n" for post in chosen), encoding="utf-8")
        _, reading_again = _read(path)
        pool = MeasuringPool()
        options = BuildOptions(model=model, engine=engine, parser=parser, device="cpu")
        build_index([path], folder / "first", options, pool=pool)
        seconds = pool.seconds.copy()
        summary, writing, sizes = _again(path, folder / "whole", options, pool)
        fewer = chosen[: max(FEW + 1, len(chosen) // 2)]
        path.write_text("".join(post.to_json() + "\n" for post in fewer), encoding="utf-8")
        _, start, small = _again(path, folder / "part", options, pool)
        more = max(1, len(chosen) - len(fewer))
        counts = summary.manifest.counts
        encoding, rows, numbers = _encoding(folder / "whole", chosen, device)
        where = f"{platform.machine()}, {os.cpu_count()} processors, {platform.system()}"
        return BuildConstants(
            model=summary.manifest.model.name,
            engine=summary.manifest.engine.name,
            measured_on=where,
            posts=len(chosen),
            letters_per_post=letters / len(chosen),
            formulas_per_post=counts["formulas"] / len(chosen),
            read_seconds=reading,
            keys_seconds=seconds["PostWork keys"] / len(chosen),
            terms_seconds=(seconds["PostWork posts"] + seconds["PostWork visual"]) / len(chosen),
            graphs_seconds=max(0.0, seconds["EncodingWork new"] / len(chosen) - (encoding.processor or 0.0)),
            encoding=encoding,
            write_seconds=_per_post(writing, start, len(chosen), len(fewer), reading_again),
            bytes_per_post={part: max(0, size - small[part]) / more for part, size in sizes.items()},
            vectors_per_post=rows / len(chosen),
            vector_size=numbers / max(1, rows),
            worker_bytes=peak_memory(),
        )


def _per_post(whole: float, part: float, posts: int, fewer: int, reading: float) -> float:
    """Seconds to write a post: what the posts of the whole add to those of the part, without the reading.

    With few posts, or on a busy machine, the difference can drown in noise. The cost is then that of the whole build, start-up
    included, because a plan must not take writing to be free.
    """
    added = (whole - part) / max(1, posts - fewer) - reading
    return added if added > 0 else whole / posts


def _read(source: Path) -> tuple[list[Post], float]:
    """Reads posts of an input; also returns the seconds per post."""
    started = time.process_time()
    posts = list(islice(read_posts(source, Report()), READ))
    return posts, (time.process_time() - started) / max(1, len(posts))


def _again(
    path: Path, out: Path, options: BuildOptions, pool: MeasuringPool
) -> tuple[BuildSummary, float, dict[str, int]]:
    """Repeats a build with cached answers: its summary, the seconds outside of the workers, and the bytes it writes."""
    counted, before = sum(pool.seconds.values()), time.process_time()
    summary = build_index([path], out, options, pool=pool)
    spent = time.process_time() - before - (sum(pool.seconds.values()) - counted)
    return summary, spent, {part: size_on_disk(out / part) for part in summary.sizes}


def _encoding(index: Path, posts: Sequence[Post], device: str) -> tuple[EncodingConstants, int, int]:
    """Processor or accelerator seconds to compute the vectors of a post that has its graph.

    Also returns the total number of vectors and of their components.
    """
    backend = chosen_backend(device)
    on_processor = backend == ONNX
    with Archive.open(index, device=device) as archive:
        archive.use_system(load_system(recorded_model(archive.manifest.model), device, backend))
        items = list(_items(archive, posts))
        for _ in archive.system.encode(items[:8]):
            pass  # loads what is loaded with the first post
        started, clock = time.perf_counter(), time.process_time()
        encoded = list(archive.system.encode(items))
        wall, used = time.perf_counter() - started, time.process_time() - clock
    seconds = (used if on_processor else wall) / len(items)
    rows = [
        own.vectors.shape
        for each in encoded
        for fields in (each.post, *(by for _, by in each.formulas))
        for own in fields.values()
    ]
    constants = EncodingConstants(
        processor=seconds if on_processor else None, accelerator=None if on_processor else seconds
    )
    return constants, sum(count for count, _ in rows), sum(count * size for count, size in rows)


def _items(archive: Archive, posts: Sequence[Post]) -> Iterator[Item]:
    if not archive.has_graphs:
        yield from (Item(post=post) for post in posts)
        return
    graphs = archive.system.graphs
    with archive.graphs() as store:
        for post in posts:
            yield Item(
                post=post,
                graph=store.graph(post.id) if "graph" in archive.needs else None,
                tensor=store.tensor(graphs.configuration, post.id) if graphs is not None else None,
            )
