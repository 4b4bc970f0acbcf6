"""What a user waits for, against the first release: the text encoder, an index, a first query, a warm one, the server.

The first release is run from the history; where that is not here, its text encoder (`MATHAMR_TEXT=float`) stands for it,
as it does for the text encoder by itself.

`MATHAMR_BENCH_POSTS` posts of arqmath-mini (default 120; 0: all) and the model in the box. Times are seconds of processors, of all
processes together, so that a busy machine changes them little; on idle processors an index takes that, divided among them.
Each pair of figures is measured in turns. `MATHAMR_BENCH_INDEX` names an index that is asked warm queries as well, and whose server
is measured; `MATHAMR_BENCH_PARTS` names what is wanted of "text index queries", the later only with the earlier of the last two; of the first release `MATHAMR_BENCH_FIRST_INDEX` names its own index of the same posts, if there is one.
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
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from time import process_time

import numpy as np

from benchmarks import serve
from benchmarks._release import ROOT, first_release
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
"""Posts that both text encoders read."""
COLD = 3
SECONDS = float(os.environ.get("MATHAMR_BENCH_SECONDS", "15"))
INDEXES = {"first release": "MATHAMR_BENCH_FIRST_INDEX", "now": "MATHAMR_BENCH_INDEX"}
Ways = dict[str, dict[str, str]]
"""By name, the environment of a process that goes this way."""


def run() -> None:
    source = data_folder() / "arqmath-mini" / "Posts.xml"
    posts = list(islice(read_posts(source, Report()), POSTS))
    if "text" in PARTS:
        _text(posts)
    with tempfile.TemporaryDirectory(prefix="mathamr-bench-") as name, first_release() as first:
        folder = Path(name)
        ways = _ways(folder, first)
        path = folder / "posts.jsonl"
        path.write_text("".join(post.to_json() + "\n" for post in posts), encoding="utf-8")
        if "index" not in PARTS:
            return
        _index(path, folder, len(posts), ways)
        if "queries" not in PARTS:
            return
        _cold(folder, ways)
        own = {name: folder / name for name in ways}
        named = {
            name: Path(os.environ[variable]) for name, variable in INDEXES.items() if variable in os.environ
        }
        for indexes in filter(None, (own, named)):
            _warm(indexes, ways)
            _serve(indexes, ways)


def _ways(folder: Path, first: Path | None) -> Ways:
    """Compiled files are kept, as they are where mathamr is installed; threads are those of the processes alone."""
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    usual |= {"PYTHONPYCACHEPREFIX": str(folder / "compiled"), "OMP_NUM_THREADS": "1"}
    more = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    own = os.pathsep.join([str(ROOT / "src"), str(ROOT), *more])
    before = (
        {"PYTHONPATH": os.pathsep.join([str(first), str(ROOT), *more])}
        if first
        else {"MATHAMR_TEXT": "float", "PYTHONPATH": own}
    )
    return {"first release": usual | before, "now": usual | {"PYTHONPATH": own}}


def _text(posts: list[Post]) -> None:
    """Torch in 32 bits and ONNX Runtime in eight over the same posts, some at a time in turns; how near their vectors are."""
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
    """A post's text with the spans of its sentences and of all of it."""
    text, spans = "", []
    for number, sentence in enumerate(passage(post).sentences):
        spans.append(Span(number, len(text), len(text) + len(sentence.text)))
        text += sentence.text + " "
    return Wording(text, (*spans, Span(len(spans), 0, len(text))))


def _index(path: Path, folder: Path, count: int, ways: Ways) -> None:
    spent, built = {}, {}
    for name, way in ways.items():
        out = folder / name
        command = [sys.executable, "-m", "mathamr", "index", str(path), "--out", str(out), "--json"]
        told, spent[name] = _timed([*command, "--workers", str(processors())], way)
        built[name] = json.loads(told)
    before, now = spent.values()
    row = built["now"]
    print(
        f"  index of {count:,} posts, seconds of processors: {_pair(before, now)}, {before / now:.2f} times;"
        f" {count / now * processors():.1f} posts/s on {processors()} idle processors"
    )
    stages = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in row["seconds_by_stage"].items())
    print(f"  seconds of the clock by stage on this machine as it is: {stages}")
    print(f"  memory of the first process and its largest child: {row['peak_memory_bytes'] / 2**20:.0f} MiB")


def _cold(folder: Path, ways: Ways) -> None:
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(COLD + 1):
        for name, way in ways.items():
            command = [
                sys.executable,
                "-m",
                "mathamr",
                "search",
                str(folder / name),
                "why is $e$ irrational?",
            ]
            spent[name].append(_timed(command, way)[1])
    before, now = (statistics.median(each[1:]) for each in spent.values())
    print(f"  first query, seconds of a processor: {_pair(before, now)}, {before / now:.2f} times")


def _warm(indexes: Mapping[str, Path], ways: Ways) -> None:
    found = {}
    for name, index in indexes.items():
        command = [sys.executable, "-P", str(ROOT / "benchmarks" / "_warmqueries.py"), str(index)]
        found[name] = json.loads(_timed(command, ways[name])[0])
    _show("warm query, ms of a processor", {name: stages["total"] for name, stages in found.items()})
    for name, stages in found.items():
        told = ", ".join(f"{stage} {value:.1f}" for stage, value in stages.items() if stage != "total")
        print(f"    {name}: {told}")


def _serve(indexes: Mapping[str, Path], ways: Ways) -> None:
    asked = serve.queries()
    costs, rates = {}, {}
    for name, index in indexes.items():
        server = serve.Server(index, key="", environment=ways[name])
        try:
            asyncio.run(serve.load(server.port, 3, asked))
            before = server.cpu
            outcome = asyncio.run(serve.load(server.port, SECONDS, asked))
            outcome.show(f"server, {name}, {serve.CONNECTIONS} connections, {SECONDS:g} s")
            print(f"    memory of all its processes {server.memory:.0f} MB")
            costs[name] = 1e3 * (server.cpu - before) / max(1, outcome.statuses[200])
            rates[name] = outcome.statuses[200] / outcome.wall
        finally:
            server.kill()
    _show("server, ms of processors a request, all its processes", costs)
    if len(rates) > 1:
        print(f"  server: {rates['now'] / rates['first release']:.2f} times the requests a second")


def _show(what: str, found: Mapping[str, float]) -> None:
    """A figure of now, and of the first release where it was measured."""
    before, now = found.get("first release"), found.get("now")
    if before and now:
        print(f"  {what}: {_pair(before, now)}, {before / now:.2f} times")
    else:
        print(f"  {what}: {', '.join(f'{value:.2f} ({name})' for name, value in found.items())}")


def _timed(command: list[str], way: dict[str, str]) -> tuple[str, float]:
    """What a command prints, and the processors' seconds of it and of its processes."""

    def spent() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    before = spent()
    done = subprocess.run(
        command, env=way, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True
    )
    return done.stdout, spent() - before


def _pair(before: float, now: float) -> str:
    return f"{before:.2f} → {now:.2f}"
