"""An index built on a Ray cluster of this machine against one built by its own processes: time, speed-up, overhead, equal files.

MATHAMR_BENCH_POSTS posts of arqmath-mini (default 200; 0: all of them), MATHAMR_BENCH_WORKERS (default 1,2,4) and the model
MATHAMR_BENCH_MODEL (default: the one in the box). A last build finds all its shards: what is left is reading and writing.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks._data import data_folder
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report

POSTS = int(os.environ.get("MATHAMR_BENCH_POSTS", "200")) or None
WORKERS = [int(each) for each in os.environ.get("MATHAMR_BENCH_WORKERS", "1,2,4").split(",")]
MODEL = os.environ.get("MATHAMR_BENCH_MODEL", "")
DEVICE = os.environ.get("MATHAMR_BENCH_DEVICE", "cpu")
_COUNTERS = {"lock", "flat.json"}
"""Files that name a process, or count how often the engine was flushed."""


def run() -> None:
    source = data_folder() / "arqmath-mini" / "Posts.xml"
    with tempfile.TemporaryDirectory(prefix="mathamr-bench-") as name:
        folder = Path(name)
        path = folder / "posts.jsonl"
        with path.open("w", encoding="utf-8") as file:
            count = sum(bool(file.write(post.to_json() + "\n")) for post in islice(_posts(source), POSTS))
        print(f"  {count:,} posts, model {MODEL or 'of the box'}; whole commands, from start to end")
        first: dict[str, Any] = {}
        for workers in WORKERS:
            own = _built(path, folder / f"own-{workers}", workers)
            ray = _built(path, folder / f"ray-{workers}", workers, folder / f"shards-{workers}")
            first = first or {"own": own["seconds"], "ray": ray["seconds"]}
            same = _same(folder / f"own-{workers}", folder / f"ray-{workers}")
            print(
                f"  {workers} workers: own processes {own['seconds']:.1f} s ({first['own'] / own['seconds']:.2f} times as"
                f" fast as with {WORKERS[0]}), Ray {ray['seconds']:.1f} s ({first['ray'] / ray['seconds']:.2f} times),"
                f" Ray/own {ray['seconds'] / own['seconds']:.2f}; workers of Ray were at work"
                f" {ray['cluster']['seconds']:.1f} s on {ray['cluster']['made']} shards; files {same}",
                flush=True,
            )
            print(f"    stages, own: {_stages(own)}; Ray: {_stages(ray)}", flush=True)
        again = _built(path, folder / "again", WORKERS[-1], folder / f"shards-{WORKERS[-1]}")
        size = sum(each.stat().st_size for each in (folder / f"shards-{WORKERS[-1]}").rglob("*.shard"))
        print(
            f"  again with all {again['cluster']['found']} shards there ({size / 2**20:.1f} MiB,"
            f" {size / count / 1024:.1f} KiB a post): {again['seconds']:.1f} s; {_stages(again)}"
        )


def _posts(source: Path) -> Any:
    return read_posts(source, Report())


def _built(path: Path, out: Path, workers: int, shards: Path | None = None) -> dict[str, Any]:
    command = [sys.executable, "-m", "mathamr", "index", str(path), "--out", str(out), "--json"]
    command += ["--workers", str(workers), "--device", DEVICE] + (["--model", MODEL] if MODEL else [])
    if shards is not None:
        command += ["--ray", "local", "--shards", str(shards)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.decode()[-3000:])
    row: dict[str, Any] = json.loads(done.stdout)
    return row


def _stages(row: dict[str, Any]) -> str:
    return ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in row["seconds_by_stage"].items())


def _same(one: Path, other: Path) -> str:
    """Whether two indexes are equal, file by file; segments of the flat engine carry a counter in their names."""
    mine, theirs = _hashes(one), _hashes(other)
    different = sorted(name for name in mine.keys() | theirs.keys() if mine.get(name) != theirs.get(name))
    return f"{len(mine)} equal" if not different else f"different: {', '.join(different)}"


def _hashes(folder: Path) -> dict[str, str]:
    return {
        re.sub(r"-\d{8}\.", ".", each.relative_to(folder).as_posix()): sha256(each.read_bytes()).hexdigest()
        for each in sorted(folder.rglob("*"))
        if each.is_file() and each.name not in _COUNTERS
    }
