"""An index built on a Ray cluster of this machine against one built by local processes: time, speed-up, overhead, equal files.

Before that, requests that only wait, so that the number of processors does not matter: what remains is the cluster's overhead.
MATHAMR_BENCH_POSTS posts of arqmath-mini (default 200; 0: all of them), MATHAMR_BENCH_WORKERS (default 1,2,4) and the model
MATHAMR_BENCH_MODEL (default: the one in the box). A last build finds all its shards: only reading and writing are left.
MATHAMR_BENCH_FOLDER keeps hours of work: builds are stored there, an interrupted benchmark continues with what is missing,
and `report.txt` has every line that was printed. MATHAMR_BENCH_WAITING=0 skips the requests that only wait.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from mathamr.index.indexing.cluster.raycluster import RayCluster
from mathamr.index.indexing.cluster.workspec import WorkSpec
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr_lab.data import data_folder

POSTS = int(os.environ.get("MATHAMR_BENCH_POSTS", "200")) or None
WORKERS = [int(each) for each in os.environ.get("MATHAMR_BENCH_WORKERS", "1,2,4").split(",")]
MODEL = os.environ.get("MATHAMR_BENCH_MODEL", "")
DEVICE = os.environ.get("MATHAMR_BENCH_DEVICE", "cpu")
FOLDER = os.environ.get("MATHAMR_BENCH_FOLDER", "")
WAITING = os.environ.get("MATHAMR_BENCH_WAITING", "1") != "0"
SHARD, SHARDS = 0.5, 48
"""The seconds of a request that only waits, and the number of such requests."""
_COUNTERS = {"lock", "flat.json"}
"""Files that name a process, or count how often the engine was flushed."""


class Waiting:
    """Work that takes time but no processor."""

    identity = "waiting"

    def __call__(self, request: float) -> float:
        time.sleep(request)
        return request


def run() -> None:
    with ExitStack() as stack:
        folder = Path(FOLDER or stack.enter_context(tempfile.TemporaryDirectory(prefix="mathamr-bench-")))
        folder.mkdir(parents=True, exist_ok=True)
        for workers in (1, 2, 4, 8) if WAITING else ():
            _report(folder, _wait(workers))
        _build(folder)


def _report(folder: Path, line: str) -> None:
    """Print a line and appends it to the report, so that measurements survive an interruption."""
    print(line, flush=True)
    with (folder / "report.txt").open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def _build(folder: Path) -> None:
    """Build indexes by local processes and on Ray, with equal numbers of workers, and compare them."""
    path = folder / f"posts-{POSTS or 'all'}.jsonl"
    if not path.exists():
        beside = path.with_suffix(".part")
        with beside.open("w", encoding="utf-8") as file:
            source = data_folder() / "arqmath-mini" / "Posts.xml"
            file.writelines(post.to_json() + "\n" for post in islice(read_posts(source, Report()), POSTS))
        beside.rename(path)
    with path.open(encoding="utf-8") as file:
        count = sum(1 for _ in file)
    _report(folder, f"  {count:,} posts, model {MODEL or 'of the box'}; whole commands, from start to end")
    first: dict[str, Any] = {}
    for workers in WORKERS:
        own = _built(path, folder / f"own-{workers}", workers)
        ray = _built(path, folder / f"ray-{workers}", workers, folder / f"shards-{workers}")
        first = first or {"own": own["seconds"], "ray": ray["seconds"]}
        same = _same(folder / f"own-{workers}", folder / f"ray-{workers}")
        _report(
            folder,
            f"  {workers} workers: own processes {own['seconds']:.1f} s ({first['own'] / own['seconds']:.2f} times as"
            f" fast as with {WORKERS[0]}), Ray {ray['seconds']:.1f} s ({first['ray'] / ray['seconds']:.2f} times),"
            f" Ray/own {ray['seconds'] / own['seconds']:.2f}; workers of Ray were at work"
            f" {ray['cluster']['seconds']:.1f} s on {ray['cluster']['made']} shards; files {same}",
        )
        _report(folder, f"    stages, own: {_stages(own)}; Ray: {_stages(ray)}")
    again = _built(path, folder / "again", WORKERS[-1], folder / f"shards-{WORKERS[-1]}")
    size = sum(each.stat().st_size for each in (folder / f"shards-{WORKERS[-1]}").rglob("*.shard"))
    _report(
        folder,
        f"  again with all {again['cluster']['found']} shards there ({size / 2**20:.1f} MiB,"
        f" {size / count / 1024:.1f} KiB a post): {again['seconds']:.1f} s; {_stages(again)};"
        f" files {_same(folder / f'ray-{WORKERS[-1]}', folder / 'again')}",
    )


def _wait(workers: int) -> str:
    """Send requests to workers, and compare with the time of waiting alone."""
    root = str(Path(__file__).resolve().parent.parent)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    work = WorkSpec.of("benchmarks.ray:Waiting", (), None, {}).saying("waiting")
    with tempfile.TemporaryDirectory(prefix="mathamr-bench-") as name:
        started = time.perf_counter()
        with RayCluster("local", name, workers=workers) as cluster:
            list(cluster.map(work, [0.001 * (1 + number) for number in range(4 * workers)]))
            ready = time.perf_counter()
            list(cluster.map(work, [SHARD + 1e-6 * number for number in range(SHARDS)]))
            took = time.perf_counter() - ready
    return (
        f"  {SHARDS} requests of {SHARD:g} s that only wait, {workers} workers: {took:.2f} s, {SHARDS * SHARD / took:.2f}"
        f" times as fast as one after the other; {1000 * (took * workers / SHARDS - SHARD):.1f} ms of a worker's time a"
        f" request are the cluster's; starting took {ready - started:.1f} s"
    )


def _built(path: Path, out: Path, workers: int, shards: Path | None = None) -> dict[str, Any]:
    kept = out.with_suffix(".json")
    if kept.exists():
        row: dict[str, Any] = json.loads(kept.read_text())
        return row
    command = [sys.executable, "-m", "mathamr", "index", str(path), "--out", str(out), "--json"]
    command += ["--workers", str(workers), "--device", DEVICE] + (["--model", MODEL] if MODEL else [])
    if shards is not None:
        command += ["--ray", "local", "--shards", str(shards)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.decode()[-3000:])
    kept.write_bytes(done.stdout)
    row = json.loads(done.stdout)
    return row


def _stages(row: dict[str, Any]) -> str:
    return ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in row["seconds_by_stage"].items())


def _same(one: Path, other: Path) -> str:
    """Return True if two indexes are equal, file by file; segments of the flat engine have a counter in their names."""
    mine, theirs = _hashes(one), _hashes(other)
    different = sorted(name for name in mine.keys() | theirs.keys() if mine.get(name) != theirs.get(name))
    return f"{len(mine)} equal" if not different else f"different: {', '.join(different)}"


def _hashes(folder: Path) -> dict[str, str]:
    return {
        re.sub(r"-\d{8}\.", ".", each.relative_to(folder).as_posix()): sha256(each.read_bytes()).hexdigest()
        for each in sorted(folder.rglob("*"))
        if each.is_file() and each.name not in _COUNTERS
    }
