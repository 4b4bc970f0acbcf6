"""The server under load from a second process: requests per second, latency, memory, writes during reads, a kill.

Twenty connections send one query after the other, every query a new one, for `MATHAMR_BENCH_SECONDS` (60) seconds; the
peer is the same `Index` searched in this process without HTTP. Then writes are sent while others read, the server is
killed and started again, and every acknowledged write is checked. The sample's index is built with the model in
the box; further index directories may be named in `MATHAMR_BENCH_INDEXES`, separated by colons.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from unittest.mock import patch
from urllib.parse import quote

import psutil
from starlette.testclient import TestClient

from mathamr.core.settings import CACHE
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.posts.markup import title_pieces
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.sample import folder as sample_folder
from mathamr.search.searcher import Index
from mathamr.serve.app import create_app
from mathamr.serve.limits import Limits
from mathamr.serve.service import Service

CONNECTIONS = 20
WRITING_SECONDS = 15
QUERIES_BY_STAGE = 25
GROWING_QUERIES = int(os.environ.get("MATHAMR_BENCH_GROWTH", "5000"))
"""The number of queries after which the server's memory is compared."""
SECONDS = float(os.environ.get("MATHAMR_BENCH_SECONDS", "60"))
KEY = "benchmark-" + "k" * 20
HOST = "127.0.0.1"


@dataclass
class Outcome:
    """What the clients saw."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    wall: float = 0.0

    def show(self, what: str) -> None:
        done = sorted(self.seconds)
        rate = self.statuses[200] / self.wall
        p50, p99 = statistics.median(done), done[int(0.99 * (len(done) - 1))]
        strange = {status: n for status, n in self.statuses.items() if status not in (200, 429)}
        print(
            f"   {what}: {rate:.1f} requests/s, p50 {p50 * 1e3:.0f} ms, p99 {p99 * 1e3:.0f} ms, "
            f"{self.statuses[429]} refused with 429, other errors: {strange or 'none'}",
            flush=True,
        )


class Server:
    """`mathamr serve` in a process of its own."""

    def __init__(self, index: Path, key: str = KEY, environment: Mapping[str, str] | None = None) -> None:
        started = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mathamr", "serve", str(index), "--port", "0", "--quiet"],
            stdout=subprocess.PIPE,
            env={**(environment or os.environ), "MATHAMR_API_KEY": key},
            text=True,
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().strip().rstrip("/").rpartition(":")[2])
        self.start_seconds = time.perf_counter() - started

    @property
    def memory(self) -> float:
        """Returns the memory in MB of all its processes, shared pages counted once (PSS; resident memory on systems without it)."""
        own = psutil.Process(self.process.pid)
        found = [each.memory_full_info() for each in (own, *own.children(recursive=True))]
        return sum(float(getattr(each, "pss", each.rss)) for each in found) / 1e6

    @property
    def cpu(self) -> float:
        """Returns the processor seconds so far, of all its processes."""
        own = psutil.Process(self.process.pid)
        times = [each.cpu_times() for each in (own, *own.children(recursive=True))]
        return float(sum(each.user + each.system for each in times))

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Client:
    """One connection that is kept open, with minimal HTTP so that the client costs little."""

    def __init__(self, port: int, address: str = HOST) -> None:
        self._port, self._address = port, address
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, content: object = None) -> tuple[int, bytes]:
        if self._streams is None:
            self._streams = await asyncio.open_connection(HOST, self._port, local_addr=(self._address, 0))
        reader, writer = self._streams
        sent = b"" if content is None else json.dumps(content).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: {HOST}\r\nX-API-Key: {KEY}\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(sent)}\r\n\r\n"
        writer.write(head.encode() + sent)
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        length = next(int(line[15:]) for line in lines if line.lower().startswith("content-length:"))
        body = await reader.readexactly(length)
        if "connection: close" in (line.lower() for line in lines):
            self.close()
        return int(lines[0].split()[1]), body

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


def queries() -> Iterator[str]:
    """Yield titles of the sample's questions and formulas of its posts, each query a new one."""
    titles: list[str] = []
    for post in read_posts(sample_folder() / "Posts.xml", Report()):
        if post.title:
            read = title_pieces(post.title, post.markup)
            titles.append("".join(f"${p.text}$" if p.kind == "formula" else p.text for p in read))
        titles += [
            f"where is ${formula.latex}$ used?" for formula in post.formulas[:1] if len(formula.latex) < 60
        ]
    for number in count():
        yield f"{titles[number % len(titles)]} ({number})"


async def load(
    port: int, seconds: float, texts: Iterator[str], task: str = "answers", connections: int = CONNECTIONS
) -> Outcome:
    """Run several connections, each sending a query as soon as the last one was answered, or a second after a refusal."""
    outcome = Outcome()
    end = time.perf_counter() + seconds

    async def one() -> None:
        client = Client(port)
        while time.perf_counter() < end:
            started = time.perf_counter()
            status, _ = await client.ask("GET", f"/v1/search?q={quote(next(texts))}&task={task}")
            outcome.statuses[status] += 1
            outcome.seconds.append(time.perf_counter() - started)
            if status == 429:
                await asyncio.sleep(1)
        client.close()

    started = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(connections)))
    outcome.wall = time.perf_counter() - started
    return outcome


async def ask_many(port: int, number: int, texts: Iterator[str]) -> Counter[int]:
    """Send this many queries over four connections; return the statuses of the answers."""
    statuses: Counter[int] = Counter()
    waiting = iter(range(number))

    async def one() -> None:
        client = Client(port)
        for _ in waiting:
            status, _body = await client.ask("GET", f"/v1/search?q={quote(next(texts))}")
            statuses[status] += 1
        client.close()

    await asyncio.gather(*(one() for _ in range(4)))
    return statuses


def show_growth(index: Path, texts: Iterator[str]) -> None:
    """Print how the server's memory grows over thousands of new queries: its caches must be bounded."""
    server = Server(index)
    try:
        asyncio.run(ask_many(server.port, GROWING_QUERIES // 10, texts))
        sizes, statuses = [server.memory], Counter[int]()
        for _ in range(5):
            statuses += asyncio.run(ask_many(server.port, GROWING_QUERIES // 5, texts))
            sizes.append(server.memory)
    finally:
        server.kill()
    summary = ", ".join(f"{size:.0f}" for size in sizes)
    print(
        f"   {sum(statuses.values()):,} queries ({dict(statuses)}): memory {summary} MB, grown by {sizes[-1] - sizes[0]:.0f} MB",
        flush=True,
    )


async def write(port: int, seconds: float) -> tuple[list[str], list[float]]:
    """Put post after post over one connection; return which were acknowledged, and after how long."""
    client, acknowledged, took = Client(port), [], []
    end = time.perf_counter() + seconds
    for number in count():
        if time.perf_counter() > end:
            break
        started = time.perf_counter()
        body = {"body": f"A written note about $w_{{{number}}}=\\frac{{{number}}}{{7}}$."}
        status, _ = await client.ask("PUT", f"/v1/posts/written%2F{number}", body)
        took.append(time.perf_counter() - started)
        if status in (200, 201):
            acknowledged.append(f"written/{number}")
    client.close()
    return acknowledged, took


async def missing(port: int, ids: list[str]) -> list[str]:
    """Return those posts that the server does not have."""
    client = Client(port)
    return [id for id in ids if (await client.ask("GET", f"/v1/posts/{quote(id, safe='')}"))[0] != 200]


def in_process(index: Path, texts: Iterator[str], seconds: float) -> float:
    """Return queries per second of the library alone, one after the other."""
    with Index.open(index) as opened:
        opened.warm()
        done, started = 0, time.perf_counter()
        while time.perf_counter() - started < seconds:
            opened.search(next(texts))
            done += 1
        return done / (time.perf_counter() - started)


def processor_times(index: Path, texts: Iterator[str], task: str) -> dict[str, float]:
    """Return milliseconds of processor time per query by stage, one query at a time: a busy machine does not change them."""
    total: Counter[str] = Counter()
    with Index.open(index) as opened, patch("time.perf_counter", time.process_time):
        opened.warm()
        service = Service(opened, Limits(seconds=600))
        client = TestClient(create_app(service))
        for number, query in zip(range(-3, QUERIES_BY_STAGE), texts, strict=False):
            answer = client.get("/v1/search", params={"q": query, "task": task}).json()
            if number >= 0:
                total.update(
                    {stage: 1e3 * value / QUERIES_BY_STAGE for stage, value in answer["seconds"].items()}
                )
        service.close()
    return dict(total.most_common())


def measure(index: Path) -> None:
    """Print all figures of one index, measured on a copy of it."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "index"
        shutil.copytree(index, copy)
        texts = queries()
        formulas = (query for query in texts if "$" in query)
        for task, wanted in (("answers", texts), ("formulas", formulas)):
            times = processor_times(copy, wanted, task)
            summary = ", ".join(f"{stage} {value:.1f}" for stage, value in times.items())
            print(f"   {task}, ms of processor time a query: {summary}", flush=True)
        show_growth(copy, texts)
        alone = in_process(copy, texts, min(SECONDS, 20))
        server = Server(copy)
        try:
            started = time.perf_counter()
            asyncio.run(load_one(server.port, next(texts)))
            first = time.perf_counter() - started
            print(
                f"   answers {server.start_seconds:.1f} s after its start; the first query takes {first * 1e3:.0f} ms"
            )
            asyncio.run(load(server.port, 3, texts))
            before, cpu = server.memory, server.cpu
            outcome = asyncio.run(load(server.port, SECONDS, texts))
            outcome.show(f"{CONNECTIONS} connections, {SECONDS:g} s")
            cost = 1e3 * (server.cpu - cpu) / max(1, outcome.statuses[200])
            print(f"   {cost:.0f} ms of processor time a request, whatever else the machine does")
            rate = outcome.statuses[200] / outcome.wall
            print(
                f"   the library alone, one thread: {alone:.1f} queries/s; the server has {rate / alone:.2f} times that"
            )
            print(f"   memory {before:.0f} MB before, {server.memory:.0f} MB after")
            asyncio.run(load(server.port, min(SECONDS, 20), formulas, "formulas")).show("formula search")
            _write_and_kill(server, copy, texts)
        finally:
            server.kill()


async def load_one(port: int, query: str) -> None:
    """Send one query."""
    status, body = await Client(port).ask("GET", f"/v1/search?q={quote(query)}")
    assert status == 200, body


def _write_and_kill(server: Server, copy: Path, texts: Iterator[str]) -> None:
    async def both() -> tuple[tuple[list[str], list[float]], Outcome]:
        written, outcome = await asyncio.gather(
            write(server.port, WRITING_SECONDS), load(server.port, WRITING_SECONDS, texts)
        )
        return written, outcome

    (acknowledged, took), outcome = asyncio.run(both())
    outcome.show("while posts are written")
    lost = asyncio.run(missing(server.port, acknowledged))
    print(
        f"   {len(acknowledged)} writes, p50 {statistics.median(took) * 1e3:.0f} ms; lost at once: {len(lost)}"
    )
    server.kill()
    again = Server(copy)
    try:
        lost = asyncio.run(missing(again.port, acknowledged))
        print(
            f"   killed and started again: {len(lost)} of {len(acknowledged)} acknowledged writes lost",
            flush=True,
        )
    finally:
        again.kill()


def run() -> None:
    sample = CACHE.path / "benchmarks" / "serve-sample"
    build_index([sample_folder() / "Posts.xml"], sample, BuildOptions(workers=2))
    named = [Path(each) for each in os.environ.get("MATHAMR_BENCH_INDEXES", "").split(":") if each]
    for index in (sample, *named):
        with Index.open(index) as opened:
            print(
                f"   {index.name}: {len(opened):,} posts, {opened.archive.catalogue.count_formulas():,} formulas"
            )
        measure(index)
