"""A whole index by the command, watched: seconds and memory of every stage, how busy the processors are, what a kill loses.

`MATHAMR_BENCH_POSTS` posts of arqmath-mini (default 300; 0: all), the model in the box, as many workers as this process
may use processors (`taskset` says how many). The catalogue is looked at ten times a second: what was marked when is
what a kill at that moment would have kept. Then the command is killed once in the middle, by the clock, and finishes.
"""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path

from benchmarks._data import data_folder
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.workers import processors

POSTS = int(os.environ.get("MATHAMR_BENCH_POSTS", "300")) or None
PAUSE = 0.1


@dataclass(slots=True)
class Watch:
    """What was seen of one run of the command, each with its second since the start."""

    memory: list[tuple[float, int]] = field(default_factory=list)
    """Bytes of all processes together that no other process has (private pages)."""
    marked: list[tuple[float, int]] = field(default_factory=list)
    """Posts whose graph and vectors a kill would not take."""
    seconds: float = 0.0
    killed: bool = False


def run() -> None:
    with tempfile.TemporaryDirectory(prefix="mathamr-bench-") as name:
        folder = Path(name)
        source = folder / "posts.jsonl"
        posts = islice(read_posts(data_folder() / "arqmath-mini" / "Posts.xml", Report()), POSTS)
        with source.open("w", encoding="utf-8") as file:
            count = sum(bool(file.write(post.to_json() + "\n")) for post in posts)
        used = _spent()
        calm, told = _watched(source, folder / "calm")
        used = _spent() - used
        _show(count, calm, json.loads(told), used)
        after = random.Random(4).uniform(0.5, 0.8) * calm.seconds
        hunted, _ = _watched(source, folder / "hunted", kill_after=after)
        kept = hunted.marked[-1][1] if hunted.marked else 0
        ended, told = _watched(source, folder / "hunted")
        made = json.loads(told)["posts_by_stage"].get("vectors", 0)
        rate = kept / max(1e-9, after - _began(hunted))
        print(
            f"  killed after {after:.1f} s with {kept:,} posts kept, {made:,} made by the next run in {ended.seconds:.1f} s;"
            f" none of the kept ones was made again: {made + kept == count}; a kill in the longest gap costs about"
            f" {rate * _longest(calm):.0f} posts"
        )


def _show(count: int, watch: Watch, built: dict[str, dict[str, float]], used: float) -> None:
    print(
        f"  index of {count:,} posts on {processors()} processors: {watch.seconds:.1f} s, {used:.1f} s of processors,"
        f" {used / watch.seconds / processors():.0%} of them busy, {count / watch.seconds:.1f} posts/s"
    )
    stages = built["seconds_by_stage"]
    ends = watch.seconds - 0.3  # the last moments are those of the interpreter
    begins = max(0.0, ends - sum(stages.values()))
    print(f"    loading: {begins:.1f} s, {_most(watch, 0, begins):.0f} MiB")
    for stage, seconds in stages.items():
        print(f"    {stage}: {seconds:.1f} s, {_most(watch, begins, begins + seconds):.0f} MiB")
        begins += seconds
    print(
        f"  longest time between two writes {_longest(watch):.1f} s, {len({n for _, n in watch.marked}):,} writes"
    )


def _began(watch: Watch) -> float:
    return next((when for when, count in watch.marked if count), 0.0)


def _longest(watch: Watch) -> float:
    """The longest time in which nothing new was marked, from the first mark to the last."""
    changes = [
        when
        for number, (when, count) in enumerate(watch.marked)
        if number == 0 or count != watch.marked[number - 1][1]
    ]
    changes = [when for when in changes if when >= _began(watch)]
    return max((after - before for before, after in pairwise(changes)), default=0.0)


def _most(watch: Watch, start: float, end: float) -> float:
    return max((size for when, size in watch.memory if start <= when <= end), default=0) / 2**20


def _watched(source: Path, out: Path, kill_after: float = float("inf")) -> tuple[Watch, str]:
    command = [sys.executable, "-m", "mathamr", "index", str(source), "--out", str(out), "--json"]
    watch, started = Watch(), time.monotonic()
    process = subprocess.Popen(
        [*command, "--workers", str(processors()), "--device", "cpu"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    while process.poll() is None:
        now = time.monotonic() - started
        if now >= kill_after:
            process.send_signal(signal.SIGKILL)
            process.wait()
            watch.killed = True
            time.sleep(1.0)  # its workers see their pipes closed
        watch.memory.append((now, _memory(process.pid)))
        marked = _marked(out)
        if marked is not None:
            watch.marked.append((now, marked))
        time.sleep(PAUSE)
    watch.seconds = time.monotonic() - started
    told = process.stdout.read() if process.stdout else ""
    return watch, told


def _marked(out: Path) -> int | None:
    try:
        with sqlite3.connect(f"file:{out / 'catalogue.db'}?mode=ro", uri=True, timeout=1) as connection:
            sql = "SELECT count(*) FROM posts WHERE vectors = 1 AND graph = 1"
            return int(connection.execute(sql).fetchone()[0])
    except sqlite3.Error:
        return None


def _memory(first: int) -> int:
    """The bytes that a process and all below it have for themselves, where the system tells."""
    total, waiting = 0, [first]
    while waiting:
        number = waiting.pop()
        try:
            fields = Path(f"/proc/{number}/statm").read_text(encoding="ascii").split()
            below = Path(f"/proc/{number}/task/{number}/children").read_text(encoding="ascii")
        except OSError:
            continue
        total += (int(fields[1]) - int(fields[2])) * resource.getpagesize()
        waiting += map(int, below.split())
    return total


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
