"""kill -9 of builds, updates and single changes of an index: is the result that of an undisturbed run?

For each engine: kills at steps that write to disk (see `tests/index/killing.py`), one in each of twenty parts of a
build, of an update and of single changes; then kills of the real command, `mathamr index`, after random times, until it
finishes. The peer is the same command without kills.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mathamr.core.errors import MathAMRError
from tests.index.kills import content, differences
from tests.models import graph_store, sample_posts, tiny_model

ENGINES = os.environ.get("MATHAMR_BENCH_ENGINES", "flat").split()
POINTS = int(os.environ.get("MATHAMR_BENCH_KILLS", "20"))
POSTS, CHANGED = 40, 16
ROOT = Path(__file__).resolve().parent.parent


def run() -> None:
    with tempfile.TemporaryDirectory(prefix="mathamr-kills-") as name:
        folder = Path(name)
        model = tiny_model(folder / "model", graph_store(folder / "graphs", sample_posts(POSTS)))
        for engine in ENGINES:
            _kill_steps(folder / f"steps-{engine}", model, engine)
            _kill_command(folder / f"command-{engine}", model, engine)


def _kill_steps(folder: Path, model: Path, engine: str) -> None:
    folder.mkdir()
    started = time.perf_counter()
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.index.engines.killing",
            str(model),
            str(folder),
            engine,
            str(POINTS),
            "1",
        ],
        cwd=ROOT,
        env=_one_thread(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise MathAMRError(f"{engine}: {done.stderr[-2000:]}")
    kills = json.loads(done.stdout)["kills"]
    print(
        f"  {engine}: {kills} kills at steps of builds, updates and single changes, and full disks:"
        f" nothing lost, nothing doubled ({time.perf_counter() - started:.0f} s)"
    )


def _kill_command(folder: Path, model: Path, engine: str) -> None:
    """Kills the command after random times until a build and an update have finished."""
    folder.mkdir()
    chance = random.Random(3)
    posts = sample_posts()
    states = [posts[:POSTS], posts[CHANGED : POSTS + CHANGED]]
    source = folder / "posts.jsonl"
    calm, hunted = folder / "calm", folder / "hunted"
    kills, seconds, hunted_seconds = 0, 0.0, 0.0
    for state in states:
        source.write_text("".join(post.to_json() + "\n" for post in state), encoding="utf-8")
        command = [
            sys.executable,
            "-m",
            "mathamr",
            "index",
            str(source),
            "--model",
            str(model),
            "--engine",
            engine,
        ]
        undisturbed = _timed([*command, "--out", str(calm)])
        seconds += undisturbed
        started = time.perf_counter()
        for _ in range(POINTS // 2):
            kills += _killed([*command, "--out", str(hunted)], chance.uniform(0.3, 1.0) * undisturbed)
        _timed([*command, "--out", str(hunted)])
        hunted_seconds += time.perf_counter() - started
        names = differences(content(hunted), content(calm))
        if names:
            raise MathAMRError(f"{engine}: after {kills} kills the index differs in {', '.join(names)}")
    print(
        f"  {engine}: {kills} kills of `mathamr index` at random times: the result is that of an undisturbed build and"
        f" update; {hunted_seconds:.0f} s against {seconds:.0f} s, {hunted_seconds / seconds:.1f} times as long"
    )
    shutil.rmtree(folder)


def _timed(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(
        command, env=_one_thread(), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    return time.perf_counter() - started


def _killed(command: list[str], after: float) -> bool:
    """Return True if the command was killed before it finished."""
    process = subprocess.Popen(
        command, env=_one_thread(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
        return True
    return False


def _one_thread() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
