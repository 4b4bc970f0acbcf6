"""`mathamr serve` while `mathamr index` runs on the same folder: errors, gaps in the ranks, and delay until a new post is found.

A folder of Markdown notes from the sample's posts is indexed and served. Then it is changed twenty times (a note is
added, one changed, one deleted, one renamed), and after each change `mathamr index` is run in a process of its own, while
clients send the server one query after the other. The clock starts when the command has ended, and stops when a search for
a word that only the new note has finds it. `MATHAMR_BENCH_UPDATES` (20), `MATHAMR_BENCH_QUERIES` (1,000, at least)
and `MATHAMR_BENCH_NOTES` (120, more than two for each update) change the sizes.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from urllib.parse import urlencode

from mathamr.core.errors import MathAMRError
from mathamr.posts.markup import pieces, title_pieces
from mathamr.posts.markup.piece import Piece
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.sample import folder as sample_folder

UPDATES = int(os.environ.get("MATHAMR_BENCH_UPDATES", "20"))
QUERIES = int(os.environ.get("MATHAMR_BENCH_QUERIES", "1000"))
NOTES = int(os.environ.get("MATHAMR_BENCH_NOTES", "120"))
CLIENTS = 2
K = 10
PATIENCE = 60.0
"""Seconds after which a post that is still not found counts as missing."""


@dataclass
class Seen:
    """What the clients saw."""

    queries: int = 0
    errors: list[str] = field(default_factory=list)
    holes: list[str] = field(default_factory=list)
    strategies: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0


class Server:
    """`mathamr serve` in a process of its own, for reading only."""

    def __init__(self, index: Path) -> None:
        environment = {name: value for name, value in os.environ.items() if name != "MATHAMR_API_KEY"}
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "mathamr",
                "serve",
                str(index),
                "--port",
                "0",
                "--quiet",
                "--limit",
                "seconds=60",
            ],
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip()
        if not self.address:
            raise MathAMRError("the server did not start")

    def search(self, query: str, offset: int = 0) -> dict[str, object]:
        """Return the answer to a query; raise any failure."""
        parameters = urlencode({"q": query, "k": K, "offset": offset})
        with urllib.request.urlopen(f"{self.address}v1/search?{parameters}", timeout=120) as answer:
            found: dict[str, object] = json.load(answer)
        return found

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()


def hole(answer: dict[str, object], offset: int) -> str | None:
    """Describe a gap in the ranks of an answer."""
    hits = answer["hits"]
    assert isinstance(hits, list)
    ranks = [hit["rank"] for hit in hits]
    if ranks != list(range(offset + 1, offset + len(hits) + 1)):
        return f"ranks {ranks} from {offset}"
    if answer["more"] and len(hits) < K:
        return f"{len(hits)} hits although there are more"
    ids = [hit["id"] for hit in hits]
    return f"a post twice: {ids}" if len(set(ids)) < len(ids) else None


def ask(server: Server, queries: list[str], seen: Seen, done: threading.Event, seed: int) -> None:
    """Send one query after the other until all updates are done and enough queries were sent."""
    chance = random.Random(seed)
    while not done.is_set() or seen.queries < QUERIES:
        query, offset = chance.choice(queries), chance.choice((0, 0, 0, K))
        started = time.perf_counter()
        try:
            answer = server.search(query, offset)
        except (OSError, ValueError) as error:
            body = error.read().decode() if isinstance(error, urllib.error.HTTPError) else ""
            seen.errors.append(f"{query!r}: {error} {body}")
        else:
            seen.strategies[str(answer["strategy"])] += 1
            if wrong := hole(answer, offset):
                seen.holes.append(f"{query!r}: {wrong}")
        seen.slowest = max(seen.slowest, time.perf_counter() - started)
        seen.queries += 1


def run() -> None:
    posts = [
        post for post in islice(read_posts(sample_folder() / "Posts.xml", Report()), 4 * NOTES) if post.title
    ]
    with tempfile.TemporaryDirectory() as scratch:
        notes, index = Path(scratch) / "notes", Path(scratch) / "index"
        notes.mkdir()
        titles = [_markdown(title_pieces(post.title, post.markup)) for post in posts[:NOTES]]
        for number, post in enumerate(posts[:NOTES]):
            (notes / f"note-{number:03}.md").write_text(
                f"# {titles[number]}\n\n{_markdown(pieces(post.body, post.markup))}\n", encoding="utf-8"
            )
        _index(notes, index)
        server = Server(index)
        try:
            _follow(server, notes, index, titles)
        finally:
            server.stop()


def _markdown(found: Iterable[Piece]) -> str:
    """Write parts of a post as Markdown notes."""
    shown = [
        f"${piece.text}$" if piece.kind == "formula" else "\n\n" if piece.kind == "break" else piece.text
        for piece in found
    ]
    return "".join(shown).strip()


def _index(notes: Path, index: Path) -> None:
    command = [sys.executable, "-m", "mathamr", "index", str(notes), "--out", str(index)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _follow(server: Server, notes: Path, index: Path, queries: list[str]) -> None:
    seen, done = Seen(), threading.Event()
    clients = [
        threading.Thread(target=ask, args=(server, queries, seen, done, seed)) for seed in range(CLIENTS)
    ]
    for client in clients:
        client.start()
    delays: list[float] = []
    tries: Counter[int] = Counter()
    missing = 0
    started = time.perf_counter()
    for update in range(UPDATES):
        word = f"quagga{update:03}"
        files = sorted(notes.glob("note-*.md"))
        (notes / f"new-{update:03}.md").write_text(
            f"# The {word} theorem\n\nEvery {word} of $x^{{{update + 2}}}$ is bounded.\n", encoding="utf-8"
        )
        files[0].rename(notes / f"renamed-{update:03}.md")
        files[1].write_text(files[1].read_text(encoding="utf-8") + f"\nChanged {update}.\n", encoding="utf-8")
        files[2].unlink()
        _index(notes, index)
        ended = time.perf_counter()
        attempts = 1
        while f"new-{update:03}.md" not in [hit["id"] for hit in server.search(word)["hits"][:1]]:  # type: ignore[index]
            attempts += 1
            if time.perf_counter() - ended > PATIENCE:
                missing += 1
                break
        tries[attempts] += 1
        delays.append(time.perf_counter() - ended)
    during = seen.queries
    minutes = (time.perf_counter() - started) / 60
    done.set()
    for client in clients:
        client.join()
    print(f"   {UPDATES} updates by `mathamr index` in {minutes:.1f} minutes, {during:,} queries meanwhile")
    print(f"   {seen.queries:,} queries in all, by {dict(seen.strategies)}; slowest {seen.slowest:.2f} s")
    print(f"   errors: {len(seen.errors)}, holes in the ranks: {len(seen.holes)}, posts not found: {missing}")
    print(
        f"   a new post is found {max(delays):.2f} s after the end of its update at most, {min(delays):.2f} s at least"
    )
    for wrong in (*seen.errors[:5], *seen.holes[:5]):
        print(f"   {wrong}")
    if seen.errors or seen.holes or missing:
        raise MathAMRError("the server did not follow the index")
