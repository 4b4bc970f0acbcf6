"""What a user waits for, now and before: the text encoder, an index, a first query, a warm one, the server.

"Before" is the revision that `MATHAMR_BENCH_REVISION` names (see `_revision.py`), run by the same interpreter. Both are driven through
the command line and HTTP alone, since their modules differ. The text encoder is compared with torch in 32 bits.

The collection is the first `MATHAMR_BENCH_POSTS` posts of arqmath-mini (default 120; 0: all), with the default model. Times are
processor seconds of all processes together, so that a busy machine changes them little. `MATHAMR_BENCH_INDEX` names an index for
warm queries and the server instead, and `MATHAMR_BENCH_OLD_INDEX` one of the same posts built by the old revision.
`MATHAMR_BENCH_PARTS` chooses from "text index queries"; "queries" needs "index".
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from time import process_time
from urllib.parse import quote

import numpy as np

from benchmarks import serve
from benchmarks._revision import ROOT, old_sources
from mathamr.core.errors import MathAMRError
from mathamr.core.workers import processors
from mathamr.posts.passage import passage
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.systems.models import TEXT, box
from mathamr.text.configuration import WINDOW, WINDOWS
from mathamr.text.folder import load_onnx_encoder
from mathamr.text.torchfolder import load_text_encoder
from mathamr.text.wording import Span, Wording
from mathamr_lab.data import data_folder

POSTS = int(os.environ.get("MATHAMR_BENCH_POSTS", "120")) or None
PARTS = os.environ.get("MATHAMR_BENCH_PARTS", "text index queries").split()
SAMPLE = 48
"""The number of posts that both text encoders read."""
COLD = 3
WARM_UP, WARM = 25, 60
SECONDS = float(os.environ.get("MATHAMR_BENCH_SECONDS", "15"))
INDEXES = {"before": "MATHAMR_BENCH_OLD_INDEX", "now": "MATHAMR_BENCH_INDEX"}
Trees = dict[str, dict[str, str]]
"""The environment of a process of each revision, by name."""


def run() -> None:
    source = data_folder() / "arqmath-mini" / "Posts.xml"
    posts = list(islice(read_posts(source, Report()), POSTS))
    if "text" in PARTS:
        _text(posts)
    with tempfile.TemporaryDirectory(prefix="mathamr-bench-") as name, old_sources() as old:
        folder = Path(name)
        trees = _trees(folder, old)
        path = folder / "posts.jsonl"
        path.write_text("".join(post.to_json() + "\n" for post in posts), encoding="utf-8")
        if "index" not in PARTS:
            return
        _index(path, folder, len(posts), trees)
        if "queries" not in PARTS:
            return
        _cold(folder, trees)
        own = {name: folder / name for name in trees}
        named = {
            name: Path(os.environ[variable]) for name, variable in INDEXES.items() if variable in os.environ
        }
        for indexes in filter(None, (own, named)):
            _warm(indexes, trees)
            _serve(indexes, trees)


def _trees(folder: Path, old: Path) -> Trees:
    """Prepare the environments: compiled modules are cached, as in an installation, and every process has one thread."""
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    usual |= {"PYTHONPYCACHEPREFIX": str(folder / "compiled"), "OMP_NUM_THREADS": "1"}
    more = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    return {
        name: usual | {"PYTHONPATH": os.pathsep.join([str(source), *more])}
        for name, source in (("before", old), ("now", ROOT / "src"))
    }


def _text(posts: list[Post]) -> None:
    """Compare torch in 32 bits and ONNX Runtime in eight on the same posts, alternately; also their vectors."""
    folder = box() / "mathamr-2" / TEXT
    exact, ours = load_text_encoder(folder, "cpu"), load_onnx_encoder(folder)
    step = max(1, len(posts) // SAMPLE)
    cut = [each.cut(WINDOW * WINDOWS) for each in exact.pieces.cut([*map(_worded, posts[::step][:SAMPLE])])]
    spent, cosines = Counter[str](), []
    for encoder in (exact, ours):
        encoder.encode_pieces(cut[:1])
    for first in range(0, len(cut), 12):
        found = []
        for name, encoder in (("float", exact), ("onnx", ours)):
            started = process_time()
            found.append(encoder.encode_pieces(cut[first : first + 12]))
            spent[name] += process_time() - started
        cosines += [(a.vectors * b.vectors).sum(1) for a, b in zip(*found, strict=True)]
    alike, before, now = np.concatenate(cosines), len(cut) / spent["float"], len(cut) / spent["onnx"]
    print(
        f"  text encoder by torch and by ONNX Runtime, posts a second of one processor: {_pair(before, now)},"
        f" {now / before:.2f} times; cosine of its {len(alike):,} vectors: mean {alike.mean():.5f}, least {alike.min():.5f}"
    )


def _worded(post: Post) -> Wording:
    """Return a post's text with the spans of its sentences and of all of it."""
    text, spans = "", []
    for number, sentence in enumerate(passage(post).sentences):
        spans.append(Span(number, len(text), len(text) + len(sentence.text)))
        text += sentence.text + " "
    return Wording(text, (*spans, Span(len(spans), 0, len(text))))


def _index(path: Path, folder: Path, count: int, trees: Trees) -> None:
    spent, built = {}, {}
    for name, tree in trees.items():
        out = folder / name
        command = [sys.executable, "-m", "mathamr", "index", str(path), "--out", str(out), "--json"]
        printed, spent[name] = _timed([*command, "--workers", str(processors())], tree)
        built[name] = json.loads(printed)
    before, now = spent.values()
    row = built["now"]
    print(
        f"  index of {count:,} posts, seconds of processors: {_pair(before, now)}, {before / now:.2f} times;"
        f" {count / now * processors():.1f} posts/s on {processors()} idle processors"
    )
    stages = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in row["seconds_by_stage"].items())
    print(f"  seconds of the clock by stage on this machine as it is: {stages}")
    print(f"  memory of the first process and its largest child: {row['peak_memory_bytes'] / 2**20:.0f} MiB")


def _cold(folder: Path, trees: Trees) -> None:
    spent: dict[str, list[float]] = {name: [] for name in trees}
    for _ in range(COLD + 1):
        for name, tree in trees.items():
            command = [
                sys.executable,
                "-m",
                "mathamr",
                "search",
                str(folder / name),
                "why is $e$ irrational?",
            ]
            spent[name].append(_timed(command, tree)[1])
    before, now = (statistics.median(each[1:]) for each in spent.values())
    print(f"  first query, seconds of a processor: {_pair(before, now)}, {before / now:.2f} times")


def _warm(indexes: Mapping[str, Path], trees: Trees) -> None:
    """Return the processor time of one query after another by one client, once the server is warm."""
    found: dict[str, float] = {}
    stages: dict[str, Counter[str]] = {}
    for name, index in indexes.items():
        server = serve.Server(index, key="", environment=trees[name])
        try:
            questions = serve.queries()
            asyncio.run(_one_by_one(server.port, list(islice(questions, WARM_UP))))
            before = server.cpu
            stages[name] = asyncio.run(_one_by_one(server.port, list(islice(questions, WARM))))
            found[name] = 1e3 * (server.cpu - before) / WARM
        finally:
            server.kill()
    _show("warm query over HTTP, ms of a processor", found)
    for name, seconds in stages.items():
        shown = ", ".join(f"{stage} {1e3 * value / WARM:.1f}" for stage, value in seconds.most_common())
        print(f"    {name}, ms of the clock by stage: {shown}")


async def _one_by_one(port: int, questions: Sequence[str]) -> Counter[str]:
    """Return the seconds of each stage, as the server reports them, summed over all questions."""
    client, seconds = serve.Client(port), Counter[str]()
    for question in questions:
        status, body = await client.ask("GET", f"/v1/search?q={quote(question)}")
        if status != 200:
            raise MathAMRError(f"the server answered {status}: {body[:200]!r}")
        seconds.update(json.loads(body)["seconds"])
    client.close()
    return seconds


def _serve(indexes: Mapping[str, Path], trees: Trees) -> None:
    questions = serve.queries()
    costs, rates = {}, {}
    for name, index in indexes.items():
        server = serve.Server(index, key="", environment=trees[name])
        try:
            asyncio.run(serve.load(server.port, 3, questions))
            before = server.cpu
            outcome = asyncio.run(serve.load(server.port, SECONDS, questions))
            outcome.show(f"server, {name}, {serve.CONNECTIONS} connections, {SECONDS:g} s")
            print(f"    memory of all its processes {server.memory:.0f} MB")
            costs[name] = 1e3 * (server.cpu - before) / max(1, outcome.statuses[200])
            rates[name] = outcome.statuses[200] / outcome.wall
        finally:
            server.kill()
    _show("server, ms of processors a request, all its processes", costs)
    if len(rates) > 1:
        print(f"  server: {rates['now'] / rates['before']:.2f} times the requests a second")


def _show(what: str, found: Mapping[str, float]) -> None:
    """Print a figure of both revisions, or of the one that was measured."""
    before, now = found.get("before"), found.get("now")
    if before and now:
        print(f"  {what}: {_pair(before, now)}, {before / now:.2f} times")
    else:
        print(f"  {what}: {', '.join(f'{value:.2f} ({name})' for name, value in found.items())}")


def _timed(command: list[str], environment: dict[str, str]) -> tuple[str, float]:
    """Return the output of a command, and the processor seconds of it and its children."""

    def spent() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    before = spent()
    done = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True
    )
    return done.stdout, spent() - before


def _pair(before: float, now: float) -> str:
    return f"{before:.2f} → {now:.2f}"
