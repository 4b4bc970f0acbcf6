"""A complete index by the command: seconds and memory of every stage, processor load, and what a kill loses.

`MATHAMR_BENCH_POSTS` posts of arqmath-mini (default 300; 0: all), the model in the box, as many workers as this process
may use processors (`taskset` limits them). Every process and the catalogue are sampled five times a second: the posts
marked at a moment are those that a kill would have kept. Then the command is killed once in the middle
and finishes, which takes as long again; `MATHAMR_BENCH_KILLED=0` skips that.
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
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from mathamr.core.workers import processors
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr_lab.data import data_folder

POSTS = int(os.environ.get("MATHAMR_BENCH_POSTS", "300")) or None
KILLED = os.environ.get("MATHAMR_BENCH_KILLED", "1") != "0"
PAUSE = 0.2
ENDING = 0.3
REPORTED_GAP = 0.5
"""Gaps between two stages are reported from this many seconds: workers are loaded there."""


@dataclass(frozen=True, slots=True)
class Sight:
    """A sample of one process: its own memory (bytes of private pages) and its processor seconds."""

    memory: int
    spent: float


@dataclass(slots=True)
class Watch:
    """The samples of one run of the command, each with its second since the start."""

    processes: list[tuple[float, dict[str, Sight]]] = field(default_factory=list)
    """The processes by name: the first one, and the others by their task and number."""
    marked: list[tuple[float, int]] = field(default_factory=list)
    """The posts whose graph and vectors would survive a kill."""
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
        calm, output = _watched(source, folder / "calm")
        used = _spent() - used
        _show(count, calm, json.loads(output), used)
        if not KILLED:
            return
        after = random.Random(4).uniform(0.5, 0.8) * calm.seconds
        hunted, _ = _watched(source, folder / "hunted", kill_after=after)
        kept = hunted.marked[-1][1] if hunted.marked else 0
        ended, output = _watched(source, folder / "hunted")
        made = json.loads(output)["posts_by_stage"].get("vectors", 0)
        rate = kept / max(1e-9, after - _began(hunted))
        print(
            f"  killed after {after:.1f} s with {kept:,} posts kept, {made:,} made by the next run in {ended.seconds:.1f} s;"
            f" none of the kept ones was made again: {made + kept == count}; a kill in the longest gap costs about"
            f" {rate * _longest(calm):.0f} posts"
        )


def _show(count: int, watch: Watch, built: dict[str, Any], used: float) -> None:
    print(
        f"  index of {count:,} posts on {processors()} processors: {watch.seconds:.1f} s, {used:.1f} s of processors,"
        f" {used / watch.seconds / processors():.0%} of them busy, {count / watch.seconds:.1f} posts/s,"
        f" {1e3 * used / count:.1f} ms of processors a post"
    )
    # The last moments belong to the interpreter.
    start = max(0.0, watch.seconds - ENDING - built["seconds"])
    begins = {stage: start + began for stage, began in built["began_by_stage"].items()}
    ends = {stage: begins[stage] + seconds for stage, seconds in built["seconds_by_stage"].items()}
    _row("loading", watch, 0.0, min(begins.values(), default=watch.seconds))
    for stage, following in pairwise([*begins, ""]):
        _row(stage, watch, begins[stage], ends[stage])
        after = begins.get(following, watch.seconds)
        if after - ends[stage] > REPORTED_GAP:
            _row("workers load" if following else "closing", watch, ends[stage], after)
    print(
        f"  longest time between two writes {_longest(watch):.1f} s, {len({n for _, n in watch.marked}):,} writes"
    )


def _row(stage: str, watch: Watch, start: float, end: float) -> None:
    """Return the time of a stage, the processor time of all processes, and the peak memory of all together and of each."""
    before = [sights for when, sights in watch.processes if when < start][-1:]
    seen = before + [sights for when, sights in watch.processes if start <= when <= end]
    together = max((sum(sight.memory for sight in sights.values()) for sights in seen), default=0)
    peaks, firsts, lasts = dict[str, int](), dict[str, float](), dict[str, float]()
    for sights in seen:
        for name, sight in sights.items():
            peaks[name] = max(peaks.get(name, 0), sight.memory)
            firsts.setdefault(name, sight.spent if sights is seen[0] else 0.0)
            lasts[name] = sight.spent
    each = ", ".join(
        f"{name} {peak / 2**20:.0f} MiB {lasts[name] - firsts[name]:.1f} s" for name, peak in peaks.items()
    )
    spent = sum(lasts.values()) - sum(firsts.values())
    print(
        f"    {stage}: {end - start:.1f} s, {spent:.1f} s of processors, at most {together / 2**20:.0f} MiB together; {each}"
    )


def _began(watch: Watch) -> float:
    return next((when for when, count in watch.marked if count), 0.0)


def _longest(watch: Watch) -> float:
    """Return the longest time without a new mark, from the first mark to the last."""
    changes = [
        when
        for number, (when, count) in enumerate(watch.marked)
        if number == 0 or count != watch.marked[number - 1][1]
    ]
    changes = [when for when in changes if when >= _began(watch)]
    return max((after - before for before, after in pairwise(changes)), default=0.0)


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
        watch.processes.append((now, _sights(process.pid)))
        marked = _marked(out)
        if marked is not None:
            watch.marked.append((now, marked))
        time.sleep(PAUSE)
    watch.seconds = time.monotonic() - started
    output = process.stdout.read() if process.stdout else ""
    return watch, output


def _marked(out: Path) -> int | None:
    try:
        with sqlite3.connect(f"file:{out / 'catalogue.db'}?mode=ro", uri=True, timeout=1) as connection:
            sql = "SELECT count(*) FROM posts WHERE vectors = 1 AND graph = 1"
            return int(connection.execute(sql).fetchone()[0])
    except sqlite3.Error:
        return None


def _sights(first: int) -> dict[str, Sight]:
    """Sample a process and all its children, by name, if the system reports them; one that ends meanwhile is left out."""
    found: dict[str, Sight] = {}
    counts = Counter[str]()
    waiting = [first]
    while waiting:
        number = waiting.pop(0)
        folder = Path(f"/proc/{number}")
        try:
            fields = (folder / "statm").read_text(encoding="ascii").split()
            times = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            command = (folder / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
            below = (folder / "task" / str(number) / "children").read_text(encoding="ascii")
        except OSError:
            continue
        work = next(
            (word.rpartition(":")[2] for word in command if word.startswith("mathamr.") and ":" in word), ""
        )
        if times[0] == "Z":  # it has ended already
            continue
        name = "first process" if number == first else work or "another"
        counts[name] += 1
        memory = (int(fields[1]) - int(fields[2])) * resource.getpagesize()
        spent = (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")
        found[name if number == first else f"{name} {counts[name]}"] = Sight(memory, spent)
        waiting += map(int, below.split())
    return found


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
